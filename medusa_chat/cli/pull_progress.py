"""What a person sees on stderr while weights come in: a bar in a terminal, a line every tenth elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from medusa_chat.catalog import Progress
from medusa_chat.engine.text.harmless import harmless


@contextmanager
def pull_progress(name: str, stream: TextIO) -> Iterator[Progress]:
    if stream.isatty():
        with _bar(name, stream) as on_progress:
            yield on_progress
    else:
        yield Lines(name, stream)


@contextmanager
def _bar(name: str, stream: TextIO) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
    )
    with Bars(*columns, console=Console(file=stream), transient=True) as bars:
        task = bars.add_task(name, total=None)

        def on_progress(stage: str, done: float | None) -> None:
            bars.update(task, description=harmless(f"{name}: {stage}"), total=1.0, completed=done or 0.0)
            if done is None:
                bars.tasks[0].total = None

        yield on_progress


class Lines:
    """One line per stage, and one for each tenth of it: enough for a log, not too much for one."""

    def __init__(self, name: str, stream: TextIO) -> None:
        self._name = name
        self._stream = stream
        self._last: tuple[str, int | None] | None = None

    def __call__(self, stage: str, done: float | None) -> None:
        tenth = None if done is None else int(done * 10 + 1e-9)
        if (stage, tenth) == self._last:
            return
        self._last = (stage, tenth)
        share = "" if tenth is None else f" {tenth * 10}%"
        self._stream.write(harmless(f"{self._name}: {stage}{share}\n"))
        self._stream.flush()
