"""The measured curve of costs, bent to what passes take while an answer runs."""

from __future__ import annotations

from medusa_chat.engine.cost import CostCurve

WINDOW = 32.0
"""Steps after which an observation has lost most of its weight: a machine grows busy within seconds."""
STEADINESS = 0.25
"""How much the guessed nodes must vary in number before their extra cost is read off the clock."""
LEAST_EXTRA, MOST_EXTRA = -0.8, 4.0


class LiveCost:
    """Costs as pass(n) = scale * (measured(n) + extra * (measured(n) - measured(1))).

    `scale` is what slows all passes alike (a busy machine), `extra` what makes a guessed node dearer than a first
    one (attention over a long context). Both come from a straight line through ratios: with u(n) = 1 - measured(1) /
    measured(n), observed / measured(n) = scale * (1 + extra * u(n)). Its slope is held near 0 until steps of
    different sizes were seen.
    """

    def __init__(self, curve: CostCurve, most: int) -> None:
        """`most` nodes will ever be asked for."""
        self._measured = [curve.pass_ms(nodes) for nodes in range(1, most + 1)]
        # Decayed sums over steps: weight, u, ratio, u * u, u * ratio. One plain step that went as measured to begin with.
        self._sums = [1.0, 0.0, 1.0, 0.0, 0.0]
        self._scale, self._extra = 1.0, 0.0

    @property
    def plain_ms(self) -> float:
        """Of a pass with one node."""
        return self._scale * self._measured[0]

    def overheads(self, most: int) -> list[float]:
        """pass(n) / pass(1) for n = 1..most."""
        first, steepness = self._measured[0], 1.0 + self._extra
        return [1.0 + steepness * (ms / first - 1.0) for ms in self._measured[:most]]

    def observe(self, nodes: int, ms: float) -> None:
        """A pass took this long. One hiccup counts as twice what was expected; a lasting change is followed."""
        measured = self._measured[min(nodes, len(self._measured)) - 1]
        share = 1.0 - self._measured[0] / measured
        expected = self._scale * (1.0 + self._extra * share)
        ratio = min(max(ms / measured, expected / 2.0), expected * 2.0)
        seen = (1.0, share, ratio, share * share, share * ratio)
        self._sums = [old * (1.0 - 1.0 / WINDOW) + new for old, new in zip(self._sums, seen, strict=True)]
        self._fit()

    def _fit(self) -> None:
        weight, shares, ratios, squares, products = self._sums
        slope = (products - shares * ratios / weight) / (squares - shares * shares / weight + STEADINESS)
        self._scale = max((ratios - slope * shares) / weight, 0.1 * ratios / weight)
        self._extra = min(max(slope / self._scale, LEAST_EXTRA), MOST_EXTRA)
