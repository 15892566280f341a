"""How a screen comes to be compared with the stored picture of it: which sizes and themes, and when it stands still."""

from __future__ import annotations

from typing import Any

import pytest
from doubles.chat import Chat
from doubles.waiting import until
from textual.widgets import Input, TextArea

MODEL = "smollm2-135m-instruct"
TICKS = 8
"""Of the chat's timer, in which nothing may change: whatever is drawn now and then has had its turn."""


def sizes(*wanted: tuple[int, int]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("size", wanted, ids=lambda size: f"{size[0]}x{size[1]}")


EVERY_SIZE = sizes((40, 12), (80, 24), (120, 40), (200, 60))
DARK_AND_LIGHT = pytest.mark.parametrize("theme", ["medusa-dark", "medusa-light"])


async def stand_still(chat: Chat) -> None:
    """Wait until all that is read or written beside is through, and the picture stays as it is."""
    hold_cursors(chat)
    seen: list[Any] = []
    since = 0

    def still() -> bool:
        nonlocal seen, since
        now = chat.app.screen._compositor.render_strips()
        if now != seen or _busy(chat):
            seen, since = now, chat.screen.pace.ticks
        return chat.screen.pace.ticks - since >= TICKS

    await until(chat.pilot, still)


def _busy(chat: Chat) -> bool:
    """Whether anything is under way for the screen that is on top; one below may wait until that is closed."""
    top = chat.app.screen
    return any(not worker.is_finished and top in worker.node.ancestors_with_self for worker in chat.app.workers)


def hold_cursors(chat: Chat) -> None:
    """A cursor that blinks is there in one picture and gone in the next."""
    for field in chat.app.screen.query("Input, TextArea").results(Input | TextArea):
        field.cursor_blink = False
