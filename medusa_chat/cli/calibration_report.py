"""What calibration found, as a table, a picture and a JSON object."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medusa_chat.engine.cost import CostCurve
from medusa_chat.engine.shapes.calibration import Calibration
from medusa_chat.pictures.lines import Line, Panel, line_chart
from medusa_chat.training.measured import Measured

_BAR = 24
_SPOTS = (0.1, 0.3, 0.5, 0.7, 0.9)
"""What heads may say of a guess, where it is told how often they are right then."""


@dataclass(frozen=True, slots=True)
class Found:
    calibration: Calibration
    cost: CostCurve
    measured: Sequence[Measured]

    @property
    def sizes(self) -> list[int]:
        return [1, *self.calibration.expected]

    def rate(self, nodes: int) -> float:
        """Expected tokens per step."""
        return self.calibration.expected.get(nodes, 1.0)

    def speedup(self, nodes: int) -> float:
        return self.rate(nodes) / self.cost.overhead(nodes)


def table(found: Found) -> str:
    return "\n".join([*_heads(found.calibration), "", *_trees(found), "", *_promises(found)])


def _heads(calibration: Calibration) -> Iterator[str]:
    yield f"{calibration.positions:,} held-out positions"
    for head, ranks in enumerate(calibration.accuracy, 1):
        yield f"head {head}: top-1 {ranks[0]:.3f}, top-5 {sum(ranks[:5]):.3f}, top-10 {sum(ranks[:10]):.3f}"
    yield "how often a guess is right when its head says   " + "  ".join(f"{spot:.1f}" for spot in _SPOTS)
    for head, curve in enumerate(calibration.reliability, 1):
        worth = "  ".join(f"{_between(curve.raw, curve.observed, spot):.2f}" for spot in _SPOTS)
        yield f"head {head}".ljust(47) + worth


def _trees(found: Found) -> Iterator[str]:
    """The bar is the speedup; 1 is where drafting begins to pay."""
    most = max(found.speedup(size) for size in found.sizes)
    yield "nodes  tokens/step  ms/step  overhead  speedup"
    for size in found.sizes:
        filled = round(_BAR * found.speedup(size) / most)
        mark = "  <- budget" if size == found.calibration.budget else ""
        yield (
            f"{size:5}  {found.rate(size):11.2f}  {found.cost.step_ms(size):7.1f}  {found.cost.overhead(size):8.2f}  "
            f"{found.speedup(size):7.2f}  {'█' * filled}{mark}"
        )


def _promises(found: Found) -> Iterator[str]:
    for one in found.measured:
        expected = found.rate(one.nodes)
        off = 100 * (one.tokens_per_step / expected - 1)
        yield (
            f"decoded again with {one.nodes} nodes: {one.tokens_per_step:.2f} tokens/step, {expected:.2f} expected "
            f"({off:+.1f} %, {one.tokens:,} tokens)"
        )


def chart(found: Found, model: str) -> str:
    """The SVG: rate, overhead and speedup against the number of nodes, and accuracy by rank."""
    sizes = [float(size) for size in found.sizes]

    def line(name: str, values: Sequence[float]) -> Line:
        return Line(name, tuple(zip(sizes, values, strict=True)))

    trees = [
        line("tokens/step", [found.rate(size) for size in found.sizes]),
        line("overhead", [found.cost.overhead(size) for size in found.sizes]),
        line("speedup", [found.speedup(size) for size in found.sizes]),
    ]
    accuracy = [
        Line(f"head {head}", tuple((float(rank), sum(shares[:rank])) for rank in range(1, len(shares) + 1)))
        for head, shares in enumerate(found.calibration.accuracy, 1)
    ]
    title = f"{model}: what a tree of n nodes is expected to bring here"
    return line_chart(
        [Panel(title, trees, "nodes"), Panel("the token that came is among the first k guesses", accuracy, "k")], title
    )


def event(found: Found, path: Path) -> dict[str, Any]:
    calibration = found.calibration
    return {
        "event": "done",
        "file": str(path),
        "positions": calibration.positions,
        "accuracy": calibration.accuracy,
        "expected": calibration.expected,
        "ms": {size: round(found.cost.step_ms(size), 3) for size in found.sizes},
        "budget": calibration.budget,
        "measured": {one.nodes: round(one.tokens_per_step, 4) for one in found.measured},
    }


def _between(raw: Sequence[float], observed: Sequence[float], said: float) -> float:
    """Straight between the points of a reliability curve, flat outside."""
    at = bisect_left(raw, said)
    if at == 0 or at == len(raw):
        return observed[min(at, len(raw) - 1)]
    share = (said - raw[at - 1]) / (raw[at] - raw[at - 1])
    return observed[at - 1] + share * (observed[at] - observed[at - 1])
