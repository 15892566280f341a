"""Carrying one answer to its end, also when the person interrupts it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from medusa_chat.host.session import Answer


@contextmanager
def first_interrupt_cancels(answer: Answer) -> Iterator[None]:
    """The first ctrl-c ends `answer` between two steps, where the cache is whole; a second one interrupts at once."""

    def cancel(_signal: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        answer.cancel()

    before = signal.signal(signal.SIGINT, cancel)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
