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
_GAP = Content("  ")
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
    summary: tuple[Content, ...] = ()
    """What is said last is left out first where there is no room for all of it."""
    beat: int = 0
    """Turns the wheel where nobody knows how long it takes."""


class StatusLine(Static):
    """Always one row, so that nothing jumps."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)
        self._shown = Status()

    def show(self, status: Status) -> None:
        if status != self._shown:
            self._shown = status
            self.refresh()

    def render(self) -> Content:
        return _line(self._shown, self.content_size.width)


def _line(status: Status, width: int) -> Content:
    if status.stage is not None:
        return _progress(status.stage, status.beat)
    if status.paused:
        return Content.assemble(("‖ paused", "bold $warning"), (_PAUSED, MUTED))
    if status.behind:
        count = status.new_lines
        said = f"↓ {count} new line{'s' if count != 1 else ''}" if count else "↓ more below"
        return Content.assemble((said, "bold $accent"), (" · ctrl+end follows again", MUTED))
    return that_fit(status.summary, width)


def that_fit(parts: tuple[Content, ...], width: int) -> Content:
    """As many of the first parts as fit whole; the first one always."""
    while len(parts) > 1 and _GAP.join(parts).cell_length > width:
        parts = parts[:-1]
    return _GAP.join(parts)


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


def summary(turn: Turn | None, choices: Choices, longest: int) -> tuple[Content, ...]:
    """The panel in one line, the most telling first: that a rule is lossy."""
    decoding = choices.decoding
    lossy = (Content.styled(decoding.rule_label, "bold $warning"),) if decoding.lossy else ()
    settings = Content.styled(decoding.decoder if decoding.lossy else f"{decoding.decoder} · {decoding.rule}", MUTED)
    if turn is None or not turn.tally.steps:
        return *lossy, settings, Content.styled("ctrl+t opens the panel", MUTED)
    tally = turn.tally
    trend = sparkline(list(turn.lengths), _TREND, longest)[0]
    return (
        *lossy,
        Content.assemble((figure(tally.tokens_per_second, 1), "bold $foreground"), (" tokens/s", MUTED)),
        Content.assemble((figure(tally.acceleration_rate), "bold $foreground"), (" tokens/step", MUTED)),
        Content.styled(f"{figure(tally.speedup)}×", "bold $primary"),
        settings,
        # In its full width from the start: what is shown does not vanish while it grows.
        Content.styled(f"{trend:<{_TREND}}", "$primary"),
    )
