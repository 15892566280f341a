"""How many tokens a step will yield: held-out answers decoded again on paper."""

from __future__ import annotations

from collections.abc import Sequence

from medusa_chat.engine.drafters.guesses import Guesses
from medusa_chat.engine.shapes.base import TreeShape
from medusa_chat.training.guess_table import GuessTable


def accepted_at(table: GuessTable, shape: TreeShape, budget: int) -> list[list[int]]:
    """Per row, for each depth from 1 on that is reached: the smallest budget whose tree holds the right path so far.

    For shapes whose tree of n nodes is the beginning of every larger one (best first), one build serves all budgets.
    """
    reached = []
    for row, came in enumerate(table.ranks.tolist()):
        tree = shape.build(0, Guesses(table.tokens[row], table.probabilities[row]), budget)
        reached.append(_needed(tree.tokens.tolist(), tree.children(), table.tokens[row].tolist(), came))
    return reached


def tokens_per_step(reached: Sequence[Sequence[int]], table: GuessTable, budget: int) -> float:
    """Mean accepted length when every held-out answer is decoded with this budget.

    Walks from step to step as decoding would: where a step yields three tokens, the next two places are never the start
    of a step. Averaging over all places instead counts easy passages too often.
    """
    left = table.left.tolist()
    ends = [*table.answer_starts[1:], len(table)]
    tokens = steps = 0
    for start, end in zip(table.answer_starts, ends, strict=True):
        row = start
        while row < end:
            length = min(1 + sum(needed <= budget for needed in reached[row]), left[row])
            tokens += length
            steps += 1
            row += length
    return tokens / max(1, steps)


def _needed(
    tokens: Sequence[int], children: Sequence[Sequence[int]], guesses: list[list[int]], came: list[int]
) -> list[int]:
    """Node numbers (from 1) along the right path, as far as the tree holds it."""
    node, path = 0, []
    for depth, rank in enumerate(came):
        if not 0 <= rank < len(guesses[depth]):
            break
        right = guesses[depth][rank]
        match = next((child for child in children[node] if tokens[child] == right), None)
        if match is None:
            break
        path.append(match + 1)
        node = match
    return path
