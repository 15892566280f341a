"""A run as a table for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from medusa_chat.bench.differences import Parting
from medusa_chat.bench.figures import BASELINE, RESAMPLES, Figures, figures
from medusa_chat.bench.report import by_category
from medusa_chat.bench.timed import Sample


def table(samples: Sequence[Sample]) -> Table:
    """One block of rows for each category and one for all, one row for each contestant; 80 columns hold it."""
    grid = figures_table("category", "decoder", "tokens/s", "tokens/step", "overhead", "speedup", "same")
    grid.title = f"{len(samples)} questions, greedy; same: answers identical to those of {BASELINE}"
    names = list(samples[0].answers) if samples else []
    parts = {name: by_category(samples, name) for name in names}
    for category in dict.fromkeys(sample.category for sample in samples):
        _block(grid, category, {name: parts[name][category] for name in names})
    _block(grid, "all", {name: figures(samples, name) for name in names})
    return grid


def figures_table(*columns: str) -> Table:
    """An empty table; names stand left, figures right, and neither is broken over two lines."""
    grid = Table(box=SIMPLE_HEAD, title_justify="left", pad_edge=False, collapse_padding=True)
    for column in columns:
        name = column in ("category", "decoder")
        grid.add_column(column, justify="left" if name else "right", no_wrap=True)
    return grid


def _block(grid: Table, category: str, rows: dict[str, Figures]) -> None:
    for number, (name, row) in enumerate(rows.items()):
        grid.add_row(
            Text(category if number == 0 else ""),
            name,
            shown(row.tokens_per_second, 1),
            shown(row.acceleration_rate),
            shown(row.overhead),
            shown(row.speedup),
            f"{row.identical[0]}/{row.identical[1]}" if row.identical else "–",
        )
    grid.add_section()


def interval_lines(samples: Sequence[Sample]) -> list[str]:
    """How far the speedup over all questions is to be trusted."""
    lines = []
    for name in samples[0].answers if samples else ():
        interval = figures(samples, name).speedup_interval
        if interval is not None:
            low, high = interval
            lines.append(f"{name}: speedup {low:.2f} to {high:.2f} in 95 % of {RESAMPLES} redrawn sets of questions")
    return lines


def shown(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def parting_lines(samples: Sequence[Sample]) -> list[Text]:
    """One line for each answer that is not plain's."""
    return [
        Text(f"question {sample.question} ({sample.category}): {describe(BASELINE, name, parting)}")
        for sample in samples
        for name, parting in sample.partings.items()
    ]


def describe(left: str, right: str, parting: Parting) -> str:
    """Where the answers of two decoders part and how close a call it was, in one line."""
    one, other = (
        "has ended" if token is None else f"says {text!r} ({token})"
        for text, token in zip(parting.texts, parting.tokens, strict=True)
    )
    line = f"they part at token {parting.index + 1}, where {left} {one} and {right} {other}"
    if parting.logit_gap is None:
        return line
    verdict = "a near tie that rounding decides" if parting.near_tie else "more than rounding explains"
    return f"{line}; logit gap {parting.logit_gap:.2g}, {verdict}"
