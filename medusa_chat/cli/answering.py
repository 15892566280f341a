"""Carrying one answer to its end, also when the person interrupts it."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from medusa_chat.cli.records import Told
    from medusa_chat.engine.step import Step
    from medusa_chat.host.comparison import Comparison
    from medusa_chat.host.session import Answer


def follow(answer: Answer, told: Told, on_step: Callable[[Step], None], on_rest: Callable[[str], None]) -> None:
    """Collect the steps of `answer` into `told`, handing each to `on_step`.

    The first ctrl-c ends the answer after the step it fell into, where the cache is whole, and hands the text that
    was still held back to `on_rest`; a second one interrupts at once.
    """
    with _first_interrupt() as interrupt:
        for step in answer:
            told.add(step)
            on_step(step)
            if interrupt.came and step.finish is None:
                rest = answer.cancel()
                told.text += rest
                on_rest(rest)
                return


def follow_lanes(comparison: Comparison, answers: Sequence[Told]) -> None:
    """Collect the steps of all lanes into their `answers`.

    The first ctrl-c ends those that still run after the step it fell into; a second one interrupts at once.
    """
    with _first_interrupt() as interrupt:
        for lane, step in comparison:
            answers[lane].add(step)
            if interrupt.came:
                break
    for lane, told in enumerate(answers):
        if told.cut:
            told.text += comparison.cancel(lane)


@dataclass(slots=True)
class _Interrupt:
    came: bool = False


@contextmanager
def _first_interrupt() -> Iterator[_Interrupt]:
    interrupt = _Interrupt()

    def note(_signal: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        interrupt.came = True

    before = signal.signal(signal.SIGINT, note)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, before)
