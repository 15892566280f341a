"""How many threads take part in a pass: all of them, or one while others want the cores.

A pass has hundreds of barriers. When another program takes one core for a moment, all threads wait for the one it
displaced, at one barrier after another: with a second busy program two threads were ten times slower than one alone.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch

SLOW = 3.0
"""A pass that takes this many times the best of its kind was waiting; one thread alone takes about half as many."""
PATIENCE = 2
"""Slow passes, not made up for by as many others, before the crew goes home."""
FORGETTING = 1.001
"""The best time of long ago was another machine's: by this factor a pass."""
FIRST_REST, LONGEST_REST = 16, 256
"""Passes by one thread alone."""
MOST_NODES = 64
"""Larger passes (prompts) are too few and too unlike to judge by."""


class Crew:
    """Asked before every pass, told after it."""

    def __init__(
        self,
        most: Callable[[], int] = torch.get_num_threads,
        others_run: Callable[[], bool] | None = None,
    ) -> None:
        """`most` says how many threads there are, `others_run` whether another program is running right now."""
        self._most = most
        self._others_run = others_run or _others_run
        self._best = float("inf")
        self._slow = 0
        self._rest, self._next_rest = 0, FIRST_REST

    @property
    def size(self) -> int:
        """Threads of the next pass."""
        return 1 if self._rest else self._most()

    def took(self, nodes: int, ms: float) -> None:
        """The pass that was asked for went over so many nodes and took so long."""
        if self._rest:
            self._count_down()
        elif nodes <= MOST_NODES:
            self._judge(ms / _work(nodes))

    def _judge(self, ms: float) -> None:
        self._best = min(self._best * FORGETTING, ms)
        if ms <= SLOW * self._best:
            self._slow = max(self._slow - 1, 0)
            if not self._slow:
                self._next_rest = FIRST_REST
            return
        self._slow += 1
        if self._slow >= PATIENCE:
            self._rest, self._next_rest = self._next_rest, min(2 * self._next_rest, LONGEST_REST)

    def _count_down(self) -> None:
        self._rest -= 1
        if self._rest:
            return
        if self._others_run():
            # Looking costs nothing, trying costs a slow pass.
            self._rest = FIRST_REST
        else:
            self._slow = PATIENCE - 1


def _work(nodes: int) -> float:
    """Of a pass, relative to one of a single node, roughly."""
    return 1.0 + 0.06 * (nodes - 1)


def _others_run() -> bool:
    """Whether more threads than this one are running or ready to; False where the system does not say."""
    try:
        running = Path("/proc/loadavg").read_text(encoding="utf-8").split()[3].split("/")[0]
    except (OSError, IndexError):
        return False
    return int(running) > 1
