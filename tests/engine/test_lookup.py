"""Prompt lookup: what followed the latest, longest match, and never anything else."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medusa_chat.engine.budget import FixedBudget
from medusa_chat.engine.drafters.base import DraftContext
from medusa_chat.engine.drafters.lookup import MATCH_LENGTHS, PromptLookup
from medusa_chat.engine.step import Step, Timings
from medusa_chat.engine.tree import CandidateTree


def guessed(ids: list[int], budget: int = 8, drafter: PromptLookup | None = None) -> list[int]:
    tree = (drafter or PromptLookup()).propose(DraftContext(ids, None), FixedBudget(budget))
    assert tree.parents.tolist() == list(range(-1, len(tree) - 1)), "a chain"
    assert int(tree.tokens[0]) == ids[-1]
    return tree.tokens.tolist()[1:]


def by_scanning(ids: list[int], budget: int) -> list[int]:
    """The definition: longest match first, the latest of each length, everything after it up to the budget."""
    for length in MATCH_LENGTHS:
        for end in range(len(ids) - 1, length - 1, -1):
            if ids[end - length : end] == ids[-length:]:
                return ids[end : end + budget - 1]
    return []


@pytest.mark.parametrize(
    ("ids", "wanted"),
    [
        ([1], []),
        ([1, 2], []),
        ([1, 2, 3, 4], []),
        ([1, 2, 9, 8, 1, 2], [9, 8, 1, 2]),
        ([1, 2, 9, 1, 2, 7, 1, 2], [7, 1, 2]),
        ([5, 1, 2, 9, 6, 1, 2, 7, 5, 1, 2], [9, 6, 1, 2, 7, 5, 1]),
        ([4, 4, 4, 4], [4]),
        ([4, 4, 4], [4]),
        ([0, 0, 1, 0, 0], [1, 0, 0]),
    ],
)
def test_latest_longest_match(ids: list[int], wanted: list[int]) -> None:
    assert guessed(ids) == wanted


def test_budget_bounds_the_chain() -> None:
    ids = [1, 2, 3, 4, 5, 6, 1, 2]
    for budget in range(1, 10):
        assert guessed(ids, budget) == [3, 4, 5, 6, 1, 2][: budget - 1]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.integers(1, 12), st.integers(1, 60))
def test_table_equals_scanning_however_the_conversation_grew(ids: list[int], budget: int, first: int) -> None:
    drafter = PromptLookup()
    grown: list[int] = []
    draw = random.Random(first)
    while len(grown) < len(ids):
        grown += ids[len(grown) : len(grown) + draw.randrange(1, 6)]
        assert guessed(grown, budget, drafter) == by_scanning(grown, budget)


def test_scores_follow_how_often_guesses_held() -> None:
    drafter = PromptLookup()

    def step(kept: int) -> float:
        tree = drafter.propose(DraftContext([1, 2, 3, 4, 5, 1, 2], None), FixedBudget(5))
        drafter.observe(Step(1, tree, tuple(range(kept + 1)), (0,) * (kept + 1), Timings()))
        return float(tree.scores[1])

    assert step(4) == pytest.approx(1 / 2)
    assert step(0) == pytest.approx(5 / 6)
    assert step(2) == pytest.approx(5 / 7)
    assert step(0) == pytest.approx(7 / 10)


def test_steps_of_other_drafters_say_nothing_about_lookup() -> None:
    drafter = PromptLookup()
    ids = [1, 2, 3, 1, 2]
    before = drafter.propose(DraftContext(ids, None), FixedBudget(4)).scores.tolist()
    other = CandidateTree.build([2, 9], [-1, 0], [1.0, 0.5])
    drafter.observe(Step(1, other, (0,), (3,), Timings()))
    assert drafter.propose(DraftContext(ids, None), FixedBudget(4)).scores.tolist() == before
