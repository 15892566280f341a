"""What a plain step would have taken in the place of a step that drafted, from a few plain steps that were timed."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import log2
from statistics import median

from medusa_chat.engine.cost import CostCurve

REMEMBERED = 32
COUNTED, ENOUGH = 7, 3
"""One timing says little: where other programs run, one pass in ten takes half as long again."""
NEAR = 1
"""Half or twice the nodes, or half or twice the context."""
SHORT = 256
"""Rows of context that hardly weigh beside the weights: below it all contexts are alike."""


@dataclass(frozen=True, slots=True)
class _Timing:
    nodes: int
    """Of the step beside."""
    rows: int
    share: float
    """What the plain step took of what the curve says it takes beside that step."""

    def distance(self, nodes: int, rows: int) -> int:
        """In doublings, rounded: of those about as far the later one counts first."""
        return round(abs(log2(self.nodes / nodes)) + abs(log2(self.rows / rows)))


class PlainSteps:
    """Remembers plain steps by what share they are of a step timed right beside them, for as long as a model is loaded.

    What else the machine does changes from second to second and slows both alike, so shares stay true where milliseconds
    do not. The median share of steps of about as many nodes behind a context of about this length says of any step what
    a plain one would have taken at its pace. The measured curve allows for what is left of the difference in nodes.
    """

    def __init__(self, costs: CostCurve) -> None:
        self._costs = costs
        self._timings: deque[_Timing] = deque(maxlen=REMEMBERED)
        """The newest first."""

    def timed(self, plain_ms: float, nodes: int, ms: float, rows: int) -> None:
        """
        Args:
            plain_ms: of a plain step.
            nodes, ms: of a step beside it, drafting left out.
            rows: of context behind both.
        """
        self._timings.appendleft(_Timing(nodes, max(rows, SHORT), plain_ms / self._expected(nodes, ms)))

    def beside(self, nodes: int, ms: float, rows: int) -> float | None:
        """Milliseconds of a plain step beside this one, never more than its own: a plain step is a part of any other.
        None while none was timed."""
        if not self._timings:
            return None
        place = nodes, max(rows, SHORT)
        nearest = sorted(self._timings, key=lambda timing: timing.distance(*place))[:COUNTED]
        near = [timing for timing in nearest if timing.distance(*place) <= NEAR]
        counted = near if len(near) >= ENOUGH else nearest
        return min(median(timing.share for timing in counted) * self._expected(nodes, ms), ms)

    def _expected(self, nodes: int, ms: float) -> float:
        """By the curve, where a step of so many nodes takes so long."""
        return ms * self._costs.pass_ms(1) / self._costs.pass_ms(nodes)
