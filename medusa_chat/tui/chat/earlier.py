"""The line that stands for turns further up which are not mounted."""

from __future__ import annotations

from textual.content import Content
from textual.message import Message

from medusa_chat.tui.chat.fitted_line import FittedLine
from medusa_chat.tui.text import MUTED

MOUNTED = 12
"""Turns on the screen at most while the newest is followed: every widget makes each frame a little slower."""
MORE = 12
"""Turns that come back at a time."""
AT_ONCE = 100
"""Turns that come back at once at most, for a message that was searched for: each takes some 15 ms."""

_HOW = f"click or alt+PgUp shows {MORE} more"


class EarlierLine(FittedLine):
    """Shows nothing while everything is mounted."""

    class Wanted(Message):
        """The person wants to see some of them."""

    def __init__(self) -> None:
        super().__init__(classes="earlier")
        self.display = False

    def count(self, turns: int) -> None:
        self.display = turns > 0
        said = f"… {turns} earlier turn{'s' if turns != 1 else ''}"

        def words(width: int) -> Content:
            return Content.styled(f"{said} · {_HOW}" if len(said) + 3 + len(_HOW) <= width else said, MUTED)

        self.show(words)

    def on_click(self) -> None:
        self.post_message(self.Wanted())
