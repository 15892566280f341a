"""The running pull in two lines: what it does, and how far and how fast."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import Static

from medusa_chat.catalog.pull_queue import Pulling
from medusa_chat.engine.text.harmless import harmless
from medusa_chat.tui.text import FAINT, MUTED

_MOST_BAR, _LEAST_BAR = 40, 8
_FIGURES = 50


class PullLine(Static):
    """Gone while nothing is pulled."""

    def __init__(self) -> None:
        super().__init__(id="pull", markup=False)
        self._shown: object = None

    def show(self, pulling: Pulling | None, waiting: Sequence[str]) -> None:
        now = (pulling, tuple(waiting), self.size.width)
        if now != self._shown:
            self._shown = now
            self.display = pulling is not None
            if pulling is not None:
                self.update(pull_lines(pulling, waiting, self.size.width))


def pull_lines(pulling: Pulling, waiting: Sequence[str], width: int) -> Content:
    then = f" · then {', '.join(waiting)}" if waiting else ""
    head = Content.assemble(
        ("↓ ", "$accent"),
        (f"{pulling.name}: ", "bold $foreground"),
        (harmless(pulling.stage), "$foreground"),
        (then, MUTED),
    )
    if pulling.done is None:
        return Content("\n").join([head, Content.styled("…", MUTED)])
    bar = min(_MOST_BAR, max(_LEAST_BAR, width - _FIGURES))
    filled = int(bar * min(pulling.done, 1.0))
    line = Content.assemble(
        ("━" * filled, "$primary"),
        ("╌" * (bar - filled), FAINT),
        (f" {int(100 * pulling.done):3d} %  ", "bold $foreground"),
        (" · ".join(_figures(pulling)), MUTED),
    )
    return Content("\n").join([head, line])


def _figures(pulling: Pulling) -> list[str]:
    if pulling.total is None or pulling.done is None:
        return []
    figures = [f"{pulling.done * pulling.total / 1e6:.1f} of {pulling.total / 1e6:.1f} MB"]
    if pulling.per_second is not None:
        figures.append(f"{pulling.per_second / 1e6:.1f} MB/s")
    if pulling.seconds_left is not None:
        figures.append(f"{_time(pulling.seconds_left)} left")
    return figures


def _time(seconds: float) -> str:
    minutes, rest = divmod(max(0, round(seconds)), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
