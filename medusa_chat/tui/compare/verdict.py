"""What a comparison came to, in words: on the screen and to be copied."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from medusa_chat.engine.text.harmless import harmless
from medusa_chat.host.messages import Parting
from medusa_chat.tui.compare.contestants import title
from medusa_chat.tui.compare.state import Comparison, LaneRun
from medusa_chat.tui.text import figure, showable_piece
from medusa_chat.tui.turn import ENDINGS

SAME, OTHER, FAILED = "=", "≠", "✗"


@dataclass(frozen=True, slots=True)
class Line:
    """About one lane; free of control characters, all on one row."""

    sign: str
    """One of `SAME`, `OTHER` and `FAILED`."""
    words: str
    speed: str = ""
    """Against plain decoding, with its parts."""

    @property
    def whole(self) -> str:
        return f"{self.sign} {self.words} · {self.speed}" if self.speed else f"{self.sign} {self.words}"


def verdict(comparison: Comparison) -> list[Line]:
    """One line for each lane that is held against the first; nothing as long as it runs."""
    if comparison.failure is not None:
        return [Line(FAILED, harmless(comparison.failure).replace("\n", " "))]
    if not comparison.over or not any(run.tally.tokens for run in comparison.runs):
        return []
    first, *others = comparison.runs
    return [_line(first, run) for run in others]


def _line(first: LaneRun, run: LaneRun) -> Line:
    name = title(run.lane)
    if run.parting is not None:
        return Line(OTHER, f"{name} parts from {first.lane.name} {_place(run.parting)}", _speed(run))
    same = min(first.tally.tokens, run.tally.tokens)
    both = "identical as far as both got" if "cancelled" in (first.reason, run.reason) else "identical"
    return Line(SAME, f"{name}: {both}, {same} tokens", _speed(run))


def _place(parting: Parting) -> str:
    """Its own token, then the first lane's."""
    one, other = (
        "its end" if token is None else f"“{showable_piece(text)}”"
        for token, text in zip(parting.tokens, parting.texts, strict=True)
    )
    gap = "" if parting.gap is None else f", logits {parting.gap:.2g} apart"
    return f"at token {parting.index + 1}: {other} against {one}{gap}"


def _speed(run: LaneRun) -> str:
    """Against plain decoding."""
    tally = run.tally
    if tally.speedup is None or run.plain:
        return ""
    rate, overhead = figure(tally.acceleration_rate), figure(tally.overhead)
    return f"{figure(tally.speedup)}×: {rate} tokens/step at {overhead} overhead"


def report(comparison: Comparison) -> str:
    """Prompt, table and verdict as plain text."""
    *earlier, prompt = comparison.messages
    count = sum(message.role != "system" for message in earlier)
    with_them = f"\n(with {counted_messages(count)})" if count else ""
    rows = [list(HEADINGS), *(list(cells(run)) for run in comparison.runs)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    table = "\n".join(_row(row, widths) for row in rows)
    lines = "\n".join(line.whole for line in verdict(comparison))
    return "\n\n".join(part for part in (f"{prompt.content}{with_them}", table, lines) if part)


HEADINGS = ("lane", "tokens", "seconds", "tokens/s", "tokens/step", "overhead", "speedup", "ended")


def cells(run: LaneRun) -> Iterator[str]:
    """One for each of `HEADINGS`."""
    tally = run.tally
    yield title(run.lane)
    yield str(tally.tokens)
    yield f"{tally.ms / 1000:.2f}"
    yield figure(tally.tokens_per_second, 1)
    yield figure(tally.acceleration_rate)
    yield figure(tally.overhead)
    yield "–" if tally.speedup is None else f"{figure(tally.speedup)}×"
    yield ENDINGS[run.reason] if run.reason is not None else "not ended"


def counted_messages(count: int) -> str:
    return f"{count} earlier message{'' if count == 1 else 's'}"


def _row(row: list[str], widths: list[int]) -> str:
    """Names and endings at the left, figures at the right of their columns."""
    name, *figures, ended = row
    middle = [text.rjust(width) for text, width in zip(figures, widths[1:-1], strict=True)]
    return "  ".join([name.ljust(widths[0]), *middle, ended]).rstrip()
