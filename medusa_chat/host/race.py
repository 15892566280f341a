"""Whose turn it is in a comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

S = TypeVar("S")


def fair_turns(lanes: Sequence[Iterable[S]], ms: Callable[[S], float]) -> Iterator[tuple[int, S]]:
    """One step at a time, each by the lane that has used least time of its own; yields the lane's number and the step.

    At any moment what the lanes wrote is what each writes in the same time of its own: the clocks of two lanes that
    still run are never further apart than one step. A lane that has no more steps leaves the race.

    Args:
        lanes: their steps; taking the next one is what takes time.
        ms: of a step; what its lane's clock advances by.
    """
    running = {number: iter(lane) for number, lane in enumerate(lanes)}
    clocks = [0.0] * len(lanes)
    while running:
        number = min(running, key=lambda lane: clocks[lane])
        try:
            step = next(running[number])
        except StopIteration:
            del running[number]
        else:
            clocks[number] += ms(step)
            yield number, step
