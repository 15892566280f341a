"""Calibration numbers on examples small enough to work out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from doubles.small_backbone import small_backbone

from medusa_chat.engine.shapes.calibration import Calibration
from medusa_chat.engine.shapes.dynamic import DynamicShape
from medusa_chat.heads import MedusaHeads
from medusa_chat.training.calibrate import accuracy, calibrate
from medusa_chat.training.conversations import Conversation
from medusa_chat.training.guess_table import GuessTable, tabulate
from medusa_chat.training.hidden import HiddenStates
from medusa_chat.training.reliability import fit, reliability
from medusa_chat.training.static_tree import best_paths
from medusa_chat.training.walk import accepted_at, tokens_per_step

MISS, OVER = 3, -1
"""The token that came is not among the three guesses; the answer had ended."""


def table(ranks: Sequence[Sequence[int]], left: Sequence[int], starts: tuple[int, ...] = (0,)) -> GuessTable:
    """Two heads, three guesses each; head 1 says .6 .3 .1 and head 2 .5 .4 .1 everywhere."""
    rows = len(ranks)
    return GuessTable(
        tokens=torch.tensor([[[11, 12, 13], [21, 22, 23]]]).expand(rows, -1, -1),
        probabilities=torch.tensor([[[0.6, 0.3, 0.1], [0.5, 0.4, 0.1]]]).expand(rows, -1, -1),
        ranks=torch.tensor(ranks),
        left=torch.tensor(left),
        answer_starts=starts,
    )


def test_accuracy_counts_only_rows_where_the_answer_went_on() -> None:
    shares = accuracy(table([[0, 1], [0, MISS], [2, 0], [1, OVER], [OVER, OVER]], [9, 9, 9, 2, 1]))
    assert shares == ((0.5, 0.25, 0.25), (round(1 / 3, 5), round(1 / 3, 5), 0.0))


def test_static_tree_counts_heads_that_are_right_together() -> None:
    # Head 2 is right at rank 1 whenever head 1 is right at rank 0, and at rank 0 only when head 1 misses: accuracies
    # multiplied would choose (0, 0), which is never right.
    ranks = [[0, 1]] * 3 + [[MISS, 0]] * 5 + [[1, MISS]] * 2
    assert best_paths(table(ranks, [9] * 10), 5) == [(0,), (0, 1), (1,)]


def test_static_tree_is_cut_at_its_size() -> None:
    assert best_paths(table([[0, 0], [1, 0], [0, 0]], [9] * 3), 2) == [(0,), (0, 0)]


def test_walk_goes_from_step_to_step_and_stops_at_the_end() -> None:
    # Best first by the heads' own words: the root is node 1, (0) with .6 node 2, (1) with .3 node 3, (0, 0) with .3
    # node 4.
    rows = table([[0, 0], [0, 0], [0, 0], [MISS, 0], [0, OVER], [1, MISS]], [5, 4, 3, 2, 1, 2], starts=(0, 5))
    reached = accepted_at(rows, DynamicShape(), 64)
    assert [one[0] if one else None for one in reached] == [2, 2, 2, None, 2, 3]
    # Two nodes: 2 and 2 tokens, then one that is left; the second answer begins with a miss and ends there.
    assert tokens_per_step(reached, rows, 2) == pytest.approx((2 + 2 + 1 + 1) / 4)
    # The whole tree: 3 tokens, a miss at row 3, one left at row 4; the second answer's two at once.
    assert tokens_per_step(reached, rows, 64) == pytest.approx((3 + 1 + 1 + 2) / 4)
    assert tokens_per_step(reached, rows, 1) == pytest.approx(1.0)


def test_reliability_looks_only_where_the_heads_before_were_right() -> None:
    curve = reliability(table([[0, 0], [1, 0], [MISS, 1], [OVER, OVER]], [9, 9, 9, 1]), 1)
    assert curve.raw == pytest.approx((0.1, 0.4, 0.5))
    assert curve.observed == pytest.approx((0.0, 0.0, 1.0))


def test_a_fit_recovers_how_often_probabilities_are_right() -> None:
    generator = torch.Generator().manual_seed(3)
    said = torch.rand(200_000, generator=generator) ** 3
    right = (torch.rand(200_000, generator=generator) < said**2).float()
    curve = fit(said, right)
    assert len(curve.raw) <= 40
    assert all(later > earlier for earlier, later in pairwise(curve.raw))
    assert all(later >= earlier for earlier, later in pairwise(curve.observed))
    for raw, observed in zip(curve.raw[2:], curve.observed[2:], strict=True):
        assert observed == pytest.approx(raw**2, abs=0.03)


def test_a_fit_pools_what_would_fall() -> None:
    said = torch.tensor([0.1] * 10 + [0.2] * 10 + [0.9] * 10)
    right = torch.tensor([0.0] * 6 + [1.0] * 4 + [0.0] * 8 + [1.0] * 2 + [1.0] * 10)
    curve = fit(said, right, knots=100)
    assert curve.raw == pytest.approx((0.1, 0.2, 0.9))
    assert curve.observed == pytest.approx((0.3, 0.3, 1.0))


def test_nothing_measured_means_nothing_corrected() -> None:
    assert fit(torch.empty(0), torch.empty(0)).raw == (1.0,)


def states_of(lengths: Sequence[int], prompts: Sequence[int]) -> HiddenStates:
    torch.manual_seed(8)
    count = sum(lengths)
    tokens = torch.randint(2, 120, (count,))
    pieces = zip(torch.split(tokens, list(lengths)), prompts, strict=True)
    said = [Conversation.single(piece[:prompt].tolist(), piece[prompt:].tolist()) for piece, prompt in pieces]
    left = torch.tensor([count for one in said for count in one.left()])
    return HiddenStates(torch.randn(count, 32).half(), tokens, torch.tensor(lengths), left)


def test_table_rows_are_the_places_where_a_step_can_begin() -> None:
    states = states_of([6, 5], [3, 4])
    heads = MedusaHeads.fresh(small_backbone().output_layer.weight, count=3)
    made = tabulate(heads, states, 120)
    # Roots at places 2, 3, 4 (three answer tokens) and at place 3 (one answer token).
    assert made.left.tolist() == [3, 2, 1, 1]
    assert made.answer_starts == (0, 3)
    # From the root at place 2 the heads foretell places 3, 4 and 5; from the last root only one token is left.
    assert (made.ranks >= 0).tolist() == [[True] * 3, [True, True, False], [True, False, False], [True, False, False]]
    assert int(made.tokens[0, 0, made.ranks[0, 0]]) == int(states.tokens[3])
    assert int(made.tokens[0, 1, made.ranks[0, 1]]) == int(states.tokens[4])
    guesses = heads.guess(states.hidden[1].float(), int(states.tokens[2]), 3, 120)
    assert torch.equal(made.tokens[0], guesses.tokens)
    torch.testing.assert_close(made.probabilities[0], guesses.probabilities)


def test_every_answer_of_a_conversation_has_rows_and_nothing_else_has() -> None:
    torch.manual_seed(3)
    one = Conversation(tuple(torch.randint(2, 120, (14,)).tolist()), ((3, 6), (9, 11), (11, 14)))
    states = HiddenStates(
        torch.randn(14, 32).half(), torch.tensor(one.ids), torch.tensor([14]), torch.tensor(one.left())
    )
    made = tabulate(MedusaHeads.fresh(small_backbone().output_layer.weight, count=2), states, 120)
    # Roots 2, 3, 4 of the first answer, 8 and 9 of the second, 10, 11 and 12 of the third.
    assert made.left.tolist() == [3, 2, 1, 2, 1, 3, 2, 1]
    assert made.answer_starts == (0, 3, 5)
    assert (made.ranks[:, 1] >= 0).tolist() == [True, True, False, True, False, True, True, False]


def test_calibration_of_heads_is_whole_and_survives_saving(tmp_path: Path) -> None:
    backbone = small_backbone()
    heads = MedusaHeads.fresh(backbone.output_layer.weight, count=2, token_map=torch.arange(0, 120, 3)).freeze()
    stages: list[str] = []
    found = calibrate(heads, states_of([20, 15, 30], [4, 5, 3]), stages.append)
    assert stages == ["guesses", "reliability", "static trees", "dynamic trees"]
    assert found.positions == 16 + 10 + 27
    lengths = list(found.expected.values())
    assert lengths == sorted(lengths)
    assert all(len(paths) <= size - 1 for size, paths in found.trees.items())
    found.save(tmp_path)
    assert Calibration.load(tmp_path) == found
