"""What is told about a run over a suite: tables in the terminal, JSON and a chart in files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from medusa_chat.bench.chart import chart
from medusa_chat.bench.machine import describe
from medusa_chat.bench.report import as_json, save, write
from medusa_chat.bench.summary import summarise
from medusa_chat.bench.table import interval_lines, parting_lines, tables
from medusa_chat.bench.timed import Sample


def report(
    suite: Path,
    settings: dict[str, Any],
    samples: Sequence[Sample],
    others: float | None,
    file: Path | None,
    svg: Path | None,
) -> None:
    """`others` is the share of the processor used by other programs meanwhile.

    Raises:
        MedusaError: a file cannot be written.
    """
    summaries = summarise(samples)
    console = Console(highlight=False, markup=False, emoji=False)
    for part in (*tables(summaries), *interval_lines(summaries), *parting_lines(samples)):
        console.print(part)
    machine = {**describe(), "used_by_others": None if others is None else round(others, 3)}
    if file is not None:
        save(as_json(str(suite), machine, settings, samples, summaries), file)
    if svg is not None:
        write(chart(summaries, _caption(settings, samples, machine)), svg)


def _caption(settings: dict[str, Any], samples: Sequence[Sample], machine: dict[str, Any]) -> tuple[str, str]:
    """What was measured, and on what."""
    questions = len({sample.question for sample in samples})
    what = f"{settings['model']}, {settings['precision']} · {questions} questions, greedy"
    where = machine["gpu"] or f"{machine['threads']} threads on {machine['cpu']}"
    return f"{what}, at most {settings['max_tokens']} tokens an answer", where
