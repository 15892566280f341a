"""The budget that follows the answer: as many nodes as pay in this step, none where drafting loses.

An answer is a row of steps, each of which takes some time and yields some tokens, so its tokens per second are those
of a renewal-reward process: (mean tokens of a step) / (mean time of a step). Let r be the best such ratio. Choosing n
nodes in one step instead of what the best rule chooses gains tokens(n) and spends time(n) that would have earned
r * time(n) elsewhere, so the best rule maximises tokens(n) - r * time(n) in every single step; and taking for r what
was reached so far leads there, because a rule made with too small an r still earns more than that r (Dinkelbach's
method for fractional programs, run on the job).

All time is counted in plain steps. Then r is the speedup, at least 1, and a busy machine changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt

from medusa_chat.engine.cost import CostCurve
from medusa_chat.engine.live_cost import LiveCost
from medusa_chat.engine.step import Step
from medusa_chat.engine.trust import Trust

MOST_NODES = 64
"""No tree is larger: worths have fallen below any cost long before."""
WINDOW = 64.0
"""Drafted steps after which an observation has lost most of its weight."""
FIRST_NODES = 4
"""Of an answer's first step: a person waits for the first word, and a large tree would hold it back for many."""
START = 4.0
"""Plain steps that count as having gone before the first one."""
THRIFT = 1.4
"""What time is worth where it is asked how many nodes, in multiples of the speedup. Above 1, because steps are not
independent: a guess that would have held but is not verified is mostly guessed again, better, by the next step. Over
60 answers of the default model by the joint drafter, with the costs of its int8 weights, the speedup was 1.49 at 1.0,
1.52 at 1.4 and 1.51 at 2.0; with those of float32 weights it hardly depended on it."""
CREDIT = 4.0
"""Plain steps that drafting may lose, after it has won, before it rests."""
TRIAL_CREDIT = 0.5
"""Plain steps that a trial of drafting may lose."""
RENEWAL = 8
"""Steps after which bounds for the search are computed anew."""
FIRST_REST, LONGEST_REST = 8, 64
"""Steps without drafting: after a loss, and after several in a row."""


@dataclass(frozen=True, slots=True)
class _Chosen:
    """What `nodes` decided about the step on its way."""

    nodes: int
    expected: float
    """Guessed nodes that will hold."""


class LiveBudget:
    """Chooses by what guesses are worth, what nodes cost and what has been accepted.

    Two decisions with two kinds of cost. Once guesses are there, drafting is paid for whatever is done with them, so
    `nodes` weighs passes alone. Whether to draft at all is weighed over many steps, drafting included: when drafting
    has lost `CREDIT` plain steps of time it rests, is tried again after a while at a loss of `TRIAL_CREDIT` at most,
    and rests twice as long after each trial that failed. A drafter without any use thus costs one plain step in 64 or
    less in the long run.
    """

    def __init__(self, curve: CostCurve) -> None:
        self._cost = LiveCost(curve, MOST_NODES)
        self._trust = Trust()
        self._draft_ms = max(curve.draft_ms, 0.02 * curve.pass_ms(1))
        self._largest = 8.0
        self._tokens, self._time = START, START
        self._credit = CREDIT / 4
        self._on_trial = False
        self._rest, self._next_rest = 0, FIRST_REST
        self._chosen: _Chosen | None = None
        self._first = False
        self._steps = 0
        self._least_worths = self._bounds()

    @property
    def limit(self) -> int:
        """Follows what is chosen: searching for nodes nobody takes costs time."""
        if self._rest:
            return 1
        return FIRST_NODES if self._first else min(MOST_NODES, 2 * round(self._largest) + 8)

    @property
    def speedup(self) -> float:
        """Over plain steps, of the steps that drafted, lately; 1 where that was less."""
        return max(self._tokens / self._time, 1.0)

    @property
    def least_worths(self) -> Sequence[float]:
        """Renewed now and then: what a search leaves out by an old bound is hardly worth anything either way."""
        return self._least_worths

    def begin(self) -> None:
        """A new answer is new text: a drafter at rest is tried at once. Its first step is a small one."""
        self._first = True
        if self._rest:
            self._try()

    def nodes(self, worths: Sequence[float]) -> int:
        if self._rest:
            return 1
        chances = self._trust.corrected(worths[: self.limit - 1])
        # Where guesses did not hold they are hardly verified any more; a trial gives them another chance to.
        hopes = [sqrt(chance * worth) for chance, worth in zip(chances, worths, strict=False)]
        best = self._best(hopes if self._on_trial else chances)
        self._chosen = _Chosen(best, sum(chances[: best - 1]))
        return best

    def _best(self, chances: Sequence[float]) -> int:
        overheads, speedup = self._cost.overheads(len(chances) + 1), self.speedup
        best, best_gain, held, pays = 1, -inf, 0.0, False
        for nodes, chance in enumerate(chances, start=2):
            held += chance
            time = speedup * (overheads[nodes - 1] - 1.0)
            pays = pays or held > time
            if held - THRIFT * time > best_gain:
                best, best_gain = nodes, held - THRIFT * time
        return best if pays else 1

    def observe(self, step: Step) -> None:
        chosen, self._chosen, self._first = self._chosen, None, False
        self._cost.observe(len(step.tree), step.ms.total - step.ms.draft)
        if self._rest:
            self._rest -= 1
            if not self._rest:
                self._try()
        elif chosen is not None and chosen.nodes == len(step.tree) and step.finish is None:
            self._learn(step, chosen.expected)

    def _learn(self, step: Step, expected: float) -> None:
        # One hiccup of the machine is no price of drafting.
        draft_ms = min(step.ms.draft, 2.0 * self._draft_ms)
        self._draft_ms += (draft_ms - self._draft_ms) / 16.0
        self._trust.observe(step.tree.worths(), [node - 1 for node in step.path[1:]])
        keep = 1.0 - 1.0 / WINDOW
        self._largest = max(len(step.tree), keep * self._largest)
        # Luck weighs half: what was expected is surer, what has held is true.
        tokens = 1.0 + (len(step.path) - 1 + expected) / 2.0
        time = self._cost.overheads(len(step.tree))[-1] + draft_ms / self._cost.plain_ms
        self._tokens, self._time = keep * self._tokens + tokens, keep * self._time + time
        self._account(tokens - time)
        self._steps += 1
        if self._steps % RENEWAL == 0:
            self._least_worths = self._bounds()

    def _account(self, won: float) -> None:
        """So many tokens would have taken so many plain steps."""
        self._credit = min(self._credit + won, CREDIT)
        if self._credit == CREDIT:
            self._on_trial, self._next_rest = False, FIRST_REST
        if self._credit <= 0.0:
            self._on_trial = False
            self._rest, self._next_rest = self._next_rest, min(2 * self._next_rest, LONGEST_REST)

    def _bounds(self) -> list[float]:
        """By node: what the cheapest row of nodes from it on costs each, in worth.

        A node's worth bounds that of all after it, so where it does not pay for any such row none of them is taken.
        """
        most = self.limit
        overheads, rate = self._cost.overheads(most), self.speedup / self._trust.most
        return [0.0] + [
            rate * min((overheads[last] - overheads[node - 1]) / (last - node + 1) for last in range(node, most))
            for node in range(1, most)
        ]

    def _try(self) -> None:
        self._rest, self._on_trial, self._credit = 0, True, TRIAL_CREDIT
