"""The four figures of an answer, in the Medusa paper's words."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Digits, Static

from medusa_chat.engine.statistics import Tally
from medusa_chat.tui.text import MUTED, figure
from medusa_chat.tui.turn import RECENT_STEPS, Turn

_ROOMY = 44
_TIGHT = 39


class Figures(Vertical):
    """Two large figures, and below them the fraction that makes the second one."""

    def compose(self) -> ComposeResult:
        yield Digits("–", id="tokens-per-second")
        yield Digits("–", id="speedup")
        yield Static("tokens/s", classes="caption")
        yield Static("speedup over plain", classes="caption")
        yield Static(id="rates", markup=False)

    def show(self, turn: Turn | None) -> None:
        tally = turn.tally if turn is not None else Tally()
        recent = turn.recent if turn is not None else Tally()
        speed = self.query_one("#tokens-per-second", Digits)
        speed.update(figure(tally.tokens_per_second, 1))
        speedup = figure(tally.speedup)
        self.query_one("#speedup", Digits).update(speedup if tally.speedup is None else f"{speedup}×")
        rates = self.query_one("#rates", Static)
        words = _rates(tally, recent, whole=not speed.display, width=self.size.width)
        rates.update(words, layout=_rows(words) != _rows(rates.content))


def _rows(words: object) -> int:
    """Other figures in as many rows need no new layout, which costs far more than they do."""
    return str(words).count("\n") + 1


def _rates(tally: Tally, recent: Tally, whole: bool, width: int) -> Content:
    """One line per figure; the two that stand large above are repeated only where there is no room for that."""
    first, second = (8, 16) if width >= _ROOMY else (7, 14) if width >= _TIGHT else (7, 9)
    rows = [
        ("", "answer", f"last {RECENT_STEPS}" if width < _TIGHT else f"last {RECENT_STEPS} steps"),
        ("acceleration rate", figure(tally.acceleration_rate), figure(recent.acceleration_rate)),
        ("overhead", figure(tally.overhead), figure(recent.overhead)),
    ]
    if whole:
        rows.append(("speedup", figure(tally.speedup), figure(recent.speedup)))
        rows.append(("tokens/s", figure(tally.tokens_per_second, 1), figure(recent.tokens_per_second, 1)))
    lines = [
        Content.assemble(
            (f"{name:<18}", MUTED),
            (f"{answer:>{first}}", "bold $foreground" if name else MUTED),
            (f"{last:>{second}}", "$foreground" if name else MUTED),
        )
        for name, answer, last in rows
    ]
    return Content("\n").join(lines)
