"""How a comparison is shown: what is drawn of race, texts and verdict, and whether lanes stand beside each other."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.events import Resize
from textual.screen import Screen
from textual.widgets import Static

from medusa_chat.host.messages import ChatMessage
from medusa_chat.tui.chat.status import Status, StatusLine
from medusa_chat.tui.compare.contestants import MOST_LANES, Lineup, contestants, title
from medusa_chat.tui.compare.lane_text import LaneText
from medusa_chat.tui.compare.prompt import PromptField
from medusa_chat.tui.compare.race import story
from medusa_chat.tui.compare.scoreboard import LANE_COLORS, Scoreboard
from medusa_chat.tui.compare.state import Comparison
from medusa_chat.tui.compare.verdict import FAILED, SAME, Line, counted_messages, verdict
from medusa_chat.tui.compare.wrapping import rows_of
from medusa_chat.tui.dialogue import Dialogue
from medusa_chat.tui.key_line import KeyLine
from medusa_chat.tui.text import MUTED, fitted
from medusa_chat.tui.turn import ENDINGS

BEAT_EVERY = 2
NARROWEST_LANE = 36
"""Columns of a lane beside others; with less they are stacked."""
_MARGINS = 2
"""Columns left and right of all lanes."""

_READY = "⏎ races the lanes"
_SIGN_STYLES = {SAME: "bold $success", FAILED: "bold $error"}


class RaceScreen(Screen[None]):
    """Draws the comparison it is shown. It starts and stops nothing."""

    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (60, "-narrow"), (100, "-medium")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-short"), (20, "-middle"), (34, "-tall")]  # noqa: RUF012

    def __init__(self, dialogue: Dialogue, earlier: Sequence[ChatMessage], prompt: str) -> None:
        """`earlier`: what was said before the prompt."""
        super().__init__()
        self._dialogue = dialogue
        self._earlier = tuple(earlier)
        self._prompt = prompt
        self._lineup = Lineup.of(dialogue.choices, contestants(dialogue.choices, dialogue.loaded))
        self._shown: Comparison | None = None
        """None as long as the lanes chosen have not run."""
        self._looks = 0

    def compose(self) -> ComposeResult:
        yield PromptField(self._prompt)
        yield Scoreboard(id="scores")
        yield StatusLine(id="story")
        with Container(id="lanes"):
            for lane in range(MOST_LANES):
                yield LaneText(lane)
        yield Static(id="verdict", markup=False)
        yield KeyLine()

    def on_resize(self, event: Resize) -> None:
        self._place(event.size.width)

    def _place(self, width: int) -> None:
        """Lanes beside each other where each has room enough."""
        lanes = len(self._lineup.lanes)
        stacked = width < NARROWEST_LANE * lanes
        self.set_class(stacked, "-stacked")
        for text in self._lane_texts:
            # As wide as each other to the cell, so that the same text has the same rows.
            text.styles.width = "1fr" if stacked else (width - _MARGINS) // lanes
        count = sum(message.role != "system" for message in self._earlier)
        note = [f"with {counted_messages(count)}"] if count else []
        temperature = f"temperature {self._dialogue.choices.sampling.temperature:.1f}"
        self.query_one(PromptField).border_subtitle = " · ".join([*note, temperature, "not part of the conversation"])
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        shown, lanes = self._shown, self._lineup.lanes
        self.query_one(Scoreboard).show(shown, lanes)
        for number, text in enumerate(self._lane_texts):
            text.display = number < len(lanes)
            if text.display:
                self._draw_lane(number, text)
        said = self.query_one("#verdict", Static)
        lines = verdict(shown) if shown is not None else []
        width = self.query_one(Scoreboard).size.width
        drawn = _cropped_line if self.has_class("-short") and len(lines) > 1 else _drawn_line
        said.update(Content("\n").join(drawn(line, width) for line in lines))
        said.display = bool(lines)
        self.set_class(bool(lines), "-decided")

    def _draw_lane(self, number: int, text: LaneText) -> None:
        head = Content.styled(f"{number + 1} {title(self._lineup.lanes[number])}", f"bold {LANE_COLORS[number]}")
        if self._shown is None:
            text.hint = _READY
            text.head(head, "")
            text.show("", None)
            return
        run = self._shown.runs[number]
        text.hint = "…" if self._shown.running else ""
        text.head(head, ENDINGS[run.reason] if run.reason is not None else "")
        text.show(run.text, run.parted)

    def _draw_story(self) -> None:
        shown, dialogue = self._shown, self._dialogue
        stage = dialogue.loading or (shown.stage if shown is not None else None)
        said = story(shown, dialogue.paused) if shown is not None else ""
        beat = self._looks // BEAT_EVERY if stage is not None else 0
        self.query_one(StatusLine).show(Status(stage, summary=(Content.styled(said, MUTED),), beat=beat))

    @property
    def _lane_texts(self) -> list[LaneText]:
        return list(self.query(LaneText))


def _cropped_line(line: Line, width: int) -> Content:
    """On one row, so that there is one for each lane; the speed stands in the table too."""
    whole = cell_len(line.whole) <= width
    return _drawn_line(line if whole else Line(line.sign, fitted(line.words, max(1, width - 2)).rstrip()), width)


def _drawn_line(line: Line, width: int) -> Content:
    """On one row where it fits, else the speed on a row of its own; all but the sign stands to the right of it."""
    sign = (f"{line.sign} ", _SIGN_STYLES.get(line.sign, "bold $warning"))
    if cell_len(line.whole) <= width:
        words, between = line.words, " · "
    else:
        rows = rows_of(line.words, max(1, width - 2))
        words, between = "\n  ".join(line.words[start:end] for start, end in rows), "\n  "
    return Content.assemble(sign, (words, "$foreground"), (between + line.speed if line.speed else "", MUTED))
