"""A run as tables for people; 80 columns hold each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from medusa_chat.bench.differences import Parting
from medusa_chat.bench.figures import BASELINE, Figures
from medusa_chat.bench.resample import RESAMPLES, Spread
from medusa_chat.bench.summary import Summary
from medusa_chat.bench.timed import Sample

_NAMES = ("category", "family", "decoder", "operator", "part", "precision")


def tables(summaries: Mapping[str, Summary]) -> list[Table]:
    """Speed by family (by category where there is but one family), where a step's time goes, how long people wait."""
    step_table = _step_table(summaries)
    return [_speed_table(summaries), *([step_table] if step_table.row_count else []), _wait_table(summaries)]


def _speed_table(summaries: Mapping[str, Summary]) -> Table:
    by_family = any(len(summary.families) > 1 for summary in summaries.values())
    grid = figures_table(
        "family" if by_family else "category", "decoder", "tokens/s", "per step", "overhead", "speedup", "same"
    )
    grid.title = f"{_extent(summaries)}, greedy; tokens per second and per step; same: texts as {BASELINE}'s"
    parts = {name: summary.families if by_family else summary.categories for name, summary in summaries.items()}
    for part in dict.fromkeys(part for of_one in parts.values() for part in of_one):
        _speed_rows(grid, part, {name: of_one[part] for name, of_one in parts.items()})
    _speed_rows(grid, "all", {name: summary.whole for name, summary in summaries.items()})
    return grid


def _extent(summaries: Mapping[str, Summary]) -> str:
    whole = next((summary.whole for summary in summaries.values()), None)
    questions, answers = (whole.questions, whole.answers) if whole else (0, 0)
    return f"{questions} questions" if answers == questions else f"{questions} questions, {answers} turns"


def _speed_rows(grid: Table, part: str, rows: dict[str, Figures]) -> None:
    for number, (name, row) in enumerate(rows.items()):
        grid.add_row(
            Text(part if number == 0 else ""),
            name,
            shown(row.tokens_per_second, 1),
            shown(row.acceleration_rate),
            shown(row.overhead),
            shown(row.speedup),
            f"{row.identical[0]}/{row.identical[1]}" if row.identical else "–",
        )
    grid.add_section()


def _step_table(summaries: Mapping[str, Summary]) -> Table:
    """Of those that tell."""
    told = {name: summary.whole for name, summary in summaries.items() if summary.whole.step_ms}
    parts = list(dict.fromkeys(part for row in told.values() for part in row.step_ms or ()))
    grid = figures_table("decoder", "nodes", *parts, "step")
    grid.title = "Where a step's time goes, mean milliseconds over all questions"
    for name, row in told.items():
        split = row.step_ms or {}
        grid.add_row(
            name,
            shown(row.nodes_per_step, 1),
            *(shown(split.get(part)) for part in parts),
            shown(sum(split.values())),
        )
    return grid


def _wait_table(summaries: Mapping[str, Summary]) -> Table:
    grid = figures_table("decoder", "first token", "half by", "95 % by", "MiB")
    grid.title = "Seconds to the first token, to half and to 95 % of all answers; peak memory"
    for name, summary in summaries.items():
        row = summary.whole
        grid.add_row(
            name,
            _shown_spread(row.first_token_p50),
            _shown_spread(row.latency_p50),
            _shown_spread(row.latency_p95),
            "–" if row.peak_bytes is None else f"{row.peak_bytes / 2**20:.0f}",
        )
    return grid


def figures_table(*columns: str) -> Table:
    """An empty table; names stand left, figures right, and neither is broken over two lines."""
    grid = Table(box=SIMPLE_HEAD, title_justify="left", pad_edge=False, collapse_padding=True)
    for column in columns:
        grid.add_column(column, justify="left" if column in _NAMES else "right", no_wrap=True)
    return grid


def interval_lines(summaries: Mapping[str, Summary]) -> list[str]:
    """How far the speedup over all questions is to be trusted."""
    lines = []
    for name, summary in summaries.items():
        interval, middle = summary.whole.speedup_interval, summary.whole.speedup_median
        if interval is not None and middle is not None:
            low, high = interval
            lines.append(
                f"{name}: speedup {low:.2f} to {high:.2f} in 95 % of {RESAMPLES} redrawn sets of questions; "
                f"median question {middle.value:.2f}"
            )
    return lines


def shown(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _shown_spread(spread: Spread | None) -> str:
    if spread is None:
        return "–"
    low, high = spread.interval
    return f"{spread.value:.2f} {low:.2f}–{high:.2f}"


def parting_lines(samples: Sequence[Sample]) -> Iterable[Text]:
    """One line for each answer that is not plain's."""
    return [
        Text(f"question {sample.question}{_turn(sample)} ({sample.category}): {describe(BASELINE, name, parting)}")
        for sample in samples
        for name, parting in sample.partings.items()
    ]


def _turn(sample: Sample) -> str:
    return "" if sample.turn == 1 else f", turn {sample.turn}"


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
