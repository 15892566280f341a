"""The one line above the composer: what is being waited for, or the figures where the panel has no room."""

from __future__ import annotations

from dataclasses import dataclass

from textual.content import Content
from textual.widgets import Static

from medusa_chat.engine.text.harmless import harmless
from medusa_chat.host.messages import Progress
from medusa_chat.tui.choices import Choices
from medusa_chat.tui.panel.lengths import sparkline
from medusa_chat.tui.text import FAINT, MUTED, figure
from medusa_chat.tui.turn import Turn

_BAR = 20
_TREND = 12
_WHEEL = "◐◓◑◒"
_PAUSED = "  alt+n one step · alt+p goes on · ctrl+g inspects · esc stops"


@dataclass(frozen=True, slots=True)
class Status:
    """All the line may speak of; the first that holds is shown."""

    stage: Progress | None = None
    paused: bool = False
    behind: bool = False
    """The person reads further up."""
    new_lines: int = 0
    """That have come below since then."""
    summary: Content | None = None
    beat: int = 0
    """Turns the wheel where nobody knows how long it takes."""


class StatusLine(Static):
    """Always one row, so that nothing jumps."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)
        self._shown: Status | None = None

    def show(self, status: Status) -> None:
        if status != self._shown:
            self._shown = status
            self.update(_line(status))


def _line(status: Status) -> Content:
    if status.stage is not None:
        return _progress(status.stage, status.beat)
    if status.paused:
        return Content.assemble(("‖ paused", "bold $warning"), (_PAUSED, MUTED))
    if status.behind:
        count = status.new_lines
        said = f"↓ {count} new line{'s' if count != 1 else ''}" if count else "↓ more below"
        return Content.assemble((said, "bold $accent"), (" · ctrl+end follows again", MUTED))
    return status.summary or Content("")


def _progress(stage: Progress, beat: int) -> Content:
    label = harmless(stage.stage).replace("\n", " ")
    wheel = (f"{_WHEEL[beat % len(_WHEEL)]} ", "$accent")
    if stage.done is None:
        return Content.assemble(wheel, (f"{label} …", "$foreground"))
    done = min(max(stage.done, 0.0), 1.0)
    filled = round(_BAR * done)
    return Content.assemble(
        wheel,
        (f"{label}  ", "$foreground"),
        ("━" * filled, "$primary"),
        ("╌" * (_BAR - filled), FAINT),
        (f" {100 * done:3.0f} %", MUTED),
    )


def summary(turn: Turn | None, choices: Choices, longest: int) -> Content:
    """The panel in one line. What is cut off first on a small screen comes last; that a rule is lossy comes first."""
    decoding = choices.decoding
    lossy = Content.styled(f"{decoding.rule_label}  " if decoding.lossy else "", "bold $warning")
    settings = decoding.decoder if decoding.lossy else f"{decoding.decoder} · {decoding.rule}"
    if turn is None or not turn.tally.steps:
        return Content.assemble(lossy, (f"{settings}  ctrl+t opens the panel", MUTED))
    tally = turn.tally
    trend = sparkline(list(turn.lengths), _TREND, longest)[0]
    return Content.assemble(
        lossy,
        (f"{figure(tally.tokens_per_second, 1)}", "bold $foreground"),
        (" tokens/s  ", MUTED),
        (figure(tally.acceleration_rate), "bold $foreground"),
        (" tokens/step  ", MUTED),
        (f"{figure(tally.speedup)}×", "bold $primary"),
        (f"  {settings}  ", MUTED),
        (trend, "$primary"),
    )
