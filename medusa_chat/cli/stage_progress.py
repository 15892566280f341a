"""What a person sees on stderr while a long job goes through its stages: bars in a terminal, some lines elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TextIO

from medusa_chat.engine.text.harmless import harmless

Report = Callable[[str, int, int, str], None]
"""(stage, done, of, note)"""

LINE_EVERY = 30.0
"""Seconds between two lines where stderr is no terminal."""


@contextmanager
def stage_progress(stream: TextIO) -> Iterator[Report]:
    if stream.isatty():
        with _bars(stream) as report:
            yield report
    else:
        yield _Lines(stream)


@contextmanager
def _bars(stream: TextIO) -> Iterator[Report]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}", markup=False),
    )
    with Progress(*columns, console=Console(file=stream)) as bars:
        stages: dict[str, TaskID] = {}

        def report(stage: str, done: int, of: int, note: str) -> None:
            if stage not in stages:
                stages[stage] = bars.add_task(harmless(stage), total=of, note="")
            bars.update(stages[stage], completed=done, total=of, note=harmless(note))

        yield report


class _Lines:
    """The first and last word of each stage, and one now and then."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._stage = ""
        self._began = (0.0, 0)
        self._said = 0.0

    def __call__(self, stage: str, done: int, of: int, note: str) -> None:
        now = monotonic()
        if stage != self._stage:
            self._stage, self._began, self._said = stage, (now, done), -LINE_EVERY + now
        if now - self._said < LINE_EVERY and done < of:
            return
        self._said = now
        since, first = self._began
        left = f", {(now - since) / (done - first) * (of - done):.0f} s left" if first < done < of else ""
        self._stream.write(harmless(f"{stage}: {done:,} of {of:,}{left} {note}".rstrip()) + "\n")
        self._stream.flush()
