"""What a person sees on stderr while a long part runs; nothing where stderr is no terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from time import monotonic
from types import TracebackType
from typing import TypeVar

from medusa_chat.engine.text.harmless import harmless

_Item = TypeVar("_Item")

_ERASE_LINE = "\r\x1b[K"


class Loading:
    """One line that is rewritten and, at the end, wiped.

    An instance is the `on_progress(stage, done)` callback itself; `done` is 0..1 or None while the length is unknown.
    """

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()

    def __enter__(self) -> Loading:
        return self

    def __call__(self, stage: str, done: float | None) -> None:
        if self._shown:
            share = "" if done is None else f" {done:4.0%}"
            sys.stderr.write(f"{_ERASE_LINE}{harmless(stage)} …{share}")
            sys.stderr.flush()

    def reading(self, done: int, total: int) -> None:
        """The same for the tokens of a long prompt; wiped when all are read, because the answer begins then."""
        if done < total:
            self("reading the prompt", done / total)
        else:
            self.wipe()

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.wipe()

    def wipe(self) -> None:
        if self._shown:
            sys.stderr.write(_ERASE_LINE)
            sys.stderr.flush()


def countdown(items: Iterable[_Item], total: int, unit: str) -> Iterator[_Item]:
    """Passes items on and says on stderr how many are done and how long the rest may take.

    One line rewritten on a terminal; elsewhere (a log) a line for about every tenth part.
    """
    terminal = sys.stderr.isatty()
    began = monotonic()
    try:
        for done, item in enumerate(items, start=1):
            yield item
            if terminal or done * 10 // total > (done - 1) * 10 // total:
                left = (monotonic() - began) / done * (total - done)
                line = f"{done} of {total} {unit}, {_duration(left)} left"
                sys.stderr.write(f"{_ERASE_LINE}{line}" if terminal else f"{line}\n")
                sys.stderr.flush()
    finally:
        if terminal:
            sys.stderr.write(_ERASE_LINE)


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
