"""Tree shapes: the dynamic one is the best there is, fixed ones follow their list, none invents a node."""

from __future__ import annotations

import itertools
import json
import math
import random
from pathlib import Path

import pytest
import torch
from doubles.engine_bench import Bench, tokens_of
from doubles.guessing_heads import ChancyHeads, FixedHeads
from doubles.tiny_families import VOCAB

from medusa_chat.engine.budget import FixedBudget
from medusa_chat.engine.drafters.base import DraftContext
from medusa_chat.engine.drafters.guesses import Guesses
from medusa_chat.engine.drafters.medusa import Medusa
from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.options import TREE_KINDS
from medusa_chat.engine.shapes import shape_for
from medusa_chat.engine.shapes.base import RankPath, TreeShape
from medusa_chat.engine.shapes.calibration import Calibration, Reliability
from medusa_chat.engine.shapes.cartesian import CartesianShape
from medusa_chat.engine.shapes.dynamic import DynamicShape
from medusa_chat.engine.shapes.paths import PUBLISHED_63, PathShape
from medusa_chat.engine.tree import CandidateTree


def random_guesses(draw: random.Random, heads: int, top_k: int) -> Guesses:
    """Token of head k at rank r is 100 k + r, so a node's token names its place."""
    rows = [sorted((draw.random() for _ in range(top_k)), reverse=True) for _ in range(heads)]
    probabilities = torch.tensor([[value / (sum(row) + 0.2) for value in row] for row in rows])
    tokens = torch.tensor([[100 * head + rank for rank in range(top_k)] for head in range(1, heads + 1)])
    return Guesses(tokens.reshape(heads, top_k), probabilities.reshape(heads, top_k))


def rank_paths(tree: CandidateTree) -> list[RankPath]:
    """Of every node but the root; reads ranks from the tokens of `random_guesses`."""
    paths: list[RankPath] = [()]
    for node in range(1, len(tree)):
        token, above = int(tree.tokens[node]), paths[int(tree.parents[node])]
        assert token // 100 == len(above) + 1, "a node at this depth comes from the head of this depth"
        paths.append((*above, token % 100))
    return paths[1:]


def worth(path: RankPath, chances: list[list[float]]) -> float:
    return math.prod(chances[depth][rank] for depth, rank in enumerate(path))


def calibrated_by_hand(reliability: Reliability, probability: float) -> float:
    raw, observed = reliability.raw, reliability.observed
    if probability <= raw[0]:
        return observed[0]
    for (left, low), (right, high) in itertools.pairwise(zip(raw, observed, strict=True)):
        if probability <= right:
            return low + (high - low) * (probability - left) / (right - left)
    return observed[-1]


CURVES = (
    Reliability((0.05, 0.2, 0.7), (0.02, 0.3, 0.75)),
    Reliability((0.0, 0.5, 1.0), (0.1, 0.1, 0.9)),
    Reliability((0.3,), (0.25,)),
)


def calibration(curves: tuple[Reliability, ...] = CURVES) -> Calibration:
    return Calibration(accuracy=((0.5,),) * len(curves), reliability=curves)


@pytest.mark.parametrize("curves", [None, CURVES, CURVES[:1]])
def test_dynamic_tree_is_the_best_of_its_size(curves: tuple[Reliability, ...] | None) -> None:
    draw = random.Random(1)
    for _ in range(60):
        heads, top_k = draw.randrange(1, 5), draw.randrange(1, 6)
        guesses = random_guesses(draw, heads, top_k)
        chances = [
            [calibrated_by_hand(curves[head], p) if curves and head < len(curves) else p for p in row]
            for head, row in enumerate(guesses.probabilities.tolist())
        ]
        every = [path for depth in range(1, heads + 1) for path in itertools.product(range(top_k), repeat=depth)]
        best = sorted((worth(path, chances) for path in every), reverse=True)
        for budget in (1, 2, draw.randrange(3, 40), len(every) + 5):
            shape = DynamicShape(calibration(curves) if curves else None)
            tree = shape.build(7, guesses, budget)
            paths = rank_paths(tree)
            values = [worth(path, chances) for path in paths]
            assert len(tree) == min(budget, len(every) + 1)
            assert len(set(paths)) == len(paths)
            assert values == pytest.approx(best[: len(values)], rel=1e-4)
            # Best first, hence worth never rises; a node's own score is its chance given its parent.
            assert all(after <= before + 1e-6 for before, after in itertools.pairwise(values))
            scores = [1.0, *(chances[len(path) - 1][path[-1]] for path in paths)]
            assert tree.scores.tolist() == pytest.approx(scores, rel=1e-4)
            assert int(tree.tokens[0]) == 7


def test_calibration_never_turns_ranks_around() -> None:
    draw = random.Random(2)
    for _ in range(200):
        raw = sorted({draw.random() for _ in range(draw.randrange(1, 12))})
        observed = sorted(draw.random() for _ in raw)
        probabilities = sorted((draw.random() for _ in range(20)), reverse=True)
        guesses = Guesses(torch.arange(20)[None], torch.tensor([probabilities]))
        curve = Reliability(tuple(raw), tuple(observed))
        tree = DynamicShape(calibration((curve,))).build(0, guesses, 21)
        # Root 0 and one level: all ranks in their order, calibrated values never rising.
        scores = tree.scores.tolist()[1:]
        assert all(after <= before for before, after in itertools.pairwise(scores))
        assert sorted(scores, reverse=True) == pytest.approx(
            [calibrated_by_hand(curve, p) for p in probabilities], abs=1e-5
        )


def test_calibration_survives_its_file(tmp_path: Path) -> None:
    written = Calibration(
        accuracy=((0.6, 0.2), (0.3, 0.1)),
        reliability=CURVES[:2],
        trees={4: ((0,), (0, 0), (1,))},
        expected={4: 1.9},
        budget=4,
        positions=1234,
    )
    assert Calibration.load(written.save(tmp_path).parent) == written
    assert Calibration.load(tmp_path / "elsewhere") is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"accuracy": 3}', "\x00", json.dumps({"accuracy": [[1]]})])
def test_a_broken_calibration_is_said(tmp_path: Path, text: str) -> None:
    (tmp_path / "calibration.json").write_text(text)
    with pytest.raises(MedusaError, match=r"calibration\.json is not a calibration of heads"):
        Calibration.load(tmp_path)


def test_published_tree_is_the_published_one() -> None:
    """Counts that the published description gives: 63 guesses, 4 heads, ranks below 10."""
    assert len(PUBLISHED_63) == len(set(PUBLISHED_63)) == 63
    assert max(map(len, PUBLISHED_63)) == 4
    assert max(max(path) for path in PUBLISHED_63) == 9
    guesses = random_guesses(random.Random(0), heads=5, top_k=10)
    assert rank_paths(PathShape(PUBLISHED_63).build(1, guesses, 64)) == list(PUBLISHED_63)


def test_smaller_budgets_keep_the_first_paths() -> None:
    guesses = random_guesses(random.Random(0), heads=4, top_k=10)
    for budget in range(1, 70):
        tree = PathShape(PUBLISHED_63).build(1, guesses, budget)
        assert rank_paths(tree) == list(PUBLISHED_63[: budget - 1])


def test_paths_beyond_heads_and_ranks_are_left_out_with_what_follows_them() -> None:
    paths = [(0,), (5,), (5, 0), (5, 0, 1), (0, 1), (0, 1, 0), (0, 1, 0, 2), (1,), (1, 3), (1, 3, 0)]
    guesses = random_guesses(random.Random(0), heads=3, top_k=3)
    assert rank_paths(PathShape(paths).build(1, guesses, 64)) == [(0,), (0, 1), (0, 1, 0), (1,)]


def test_scores_of_paths_are_the_heads_own_probabilities() -> None:
    guesses = random_guesses(random.Random(5), heads=3, top_k=4)
    tree = PathShape([(0,), (2,), (2, 1), (2, 1, 3)]).build(1, guesses, 64)
    chances = guesses.probabilities
    assert tree.scores.tolist() == [1.0, *(float(chances[place]) for place in ((0, 0), (0, 2), (1, 1), (2, 3)))]


@pytest.mark.parametrize(
    "paths", [[()], [(0,), (0,)], [(-1,)], [(0, 0)], [(0, 0), (0,)], [(0,), (1, 0)], [(0,), (0, -2)]]
)
def test_bad_choices_are_said(paths: list[RankPath]) -> None:
    with pytest.raises(MedusaError, match="list every beginning of a path before the path"):
        PathShape(paths)


def test_cartesian_tree_is_the_whole_product_level_by_level() -> None:
    for heads, top_k in ((1, 1), (2, 3), (3, 2), (4, 1)):
        guesses = random_guesses(random.Random(0), heads, top_k)
        every = [path for depth in range(1, heads + 1) for path in itertools.product(range(top_k), repeat=depth)]
        assert rank_paths(CartesianShape().build(1, guesses, 256)) == every
        for budget in range(1, len(every) + 2):
            assert rank_paths(CartesianShape().build(1, guesses, budget)) == every[: budget - 1]


SHAPES = [DynamicShape(), DynamicShape(calibration()), CartesianShape(), PathShape(PUBLISHED_63), PathShape([])]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("heads", "top_k"), [(0, 0), (0, 4), (1, 1), (4, 10)])
def test_shapes_take_any_number_of_guesses(shape: TreeShape, heads: int, top_k: int) -> None:
    guesses = random_guesses(random.Random(0), heads, top_k)
    assert len(shape.build(1, guesses, 1)) == 1
    tree = shape.build(1, guesses, 256)
    assert len(tree) == 1 or heads > 0
    rank_paths(tree)


def test_drafter_uses_no_more_heads_and_ranks_than_asked() -> None:
    heads = FixedHeads([[10, 11, 12], [20, 21, 22], [30, 31, 32]])
    hidden = torch.zeros(4)
    for count, top_k in ((1, 1), (2, 2), (3, 3), (9, 9)):
        tree = Medusa(heads, CartesianShape(), count, top_k).propose(DraftContext([1, 2], hidden), FixedBudget(256))
        offered = {int(token) for token in tree.tokens[1:]}
        assert offered == {10 * head + rank for head in range(1, min(count, 3) + 1) for rank in range(min(top_k, 3))}


def test_drafter_proposes_the_root_alone_without_hidden_state_or_budget() -> None:
    drafter = Medusa(FixedHeads([[10, 11]]), CartesianShape(), 1, 2)
    assert drafter.propose(DraftContext([5], None), FixedBudget(64)).tokens.tolist() == [5]
    assert drafter.propose(DraftContext([1, 5], torch.zeros(4)), FixedBudget(1)).tokens.tolist() == [5]


CHANCES = [[0.55, 0.2, 0.1, 0.05], [0.4, 0.2, 0.15], [0.3, 0.25, 0.1, 0.1]]


@pytest.mark.parametrize(
    ("shape", "budget"), [(DynamicShape(), 4), (DynamicShape(), 12), (PathShape(PUBLISHED_63), 30)]
)
def test_mean_accepted_length_is_the_sum_of_path_products(llama: Bench, shape: TreeShape, budget: int) -> None:
    """With heads that are right as often as they say, a tree of N nodes wins the sum of its nodes' products."""
    chances = [row[:3] for row in CHANCES]
    prompt = [2, 7, 1, 8]
    text = [*prompt, *llama.plain(prompt, 90)]
    lengths: list[int] = []
    for seed in range(40):
        heads = ChancyHeads(text, lambda: llama.backbone.length, VOCAB, chances, seed)
        steps = llama.answer(prompt, Medusa(heads, shape, 3, 3), budget=budget, max_tokens=80)
        assert tokens_of(steps) == text[4:84]
        # The last step may be cut by the limit, and those whose tree reached beyond it could not win it all.
        lengths += [len(step.tokens) for step in steps[:-4]]
    tree = shape.build(text[0], ChancyHeads(text, lambda: 0, VOCAB, chances).guess(torch.zeros(1), 0, 3, 3), budget)
    expected = float((tree.ancestry().float() * tree.scores + ~tree.ancestry()).prod(dim=1).sum())
    measured = torch.tensor(lengths, dtype=torch.float64)
    standard_error = float(measured.std()) / math.sqrt(len(lengths))
    assert abs(float(measured.mean()) - expected) < 4 * standard_error
    assert standard_error < 0.03 * expected
    assert expected > 1.5


def test_options_name_every_shape() -> None:
    measured = Calibration(
        accuracy=((0.5,),),
        reliability=CURVES[:1],
        trees={3: ((0,), (1,)), 5: ((0,), (0, 0), (1,), (2,)), 9: ((0,), *((0, rank) for rank in range(7)))},
    )
    guesses = random_guesses(random.Random(1), heads=2, top_k=8)
    chosen = {kind: shape_for(kind, measured, 4).build(1, guesses, 4) for kind in TREE_KINDS}
    assert rank_paths(chosen["published"]) == list(PUBLISHED_63[:3])
    assert rank_paths(chosen["cartesian"]) == [(0,), (1,), (2,)]
    assert rank_paths(chosen["calibrated"]) == [(0,), (0, 0), (1,)], "the smallest measured tree that fills the budget"
    wanted = DynamicShape(measured).build(1, guesses, 4)
    assert chosen["dynamic"].tokens.tolist() == wanted.tokens.tolist()
    assert chosen["dynamic"].scores.tolist() == wanted.scores.tolist()
    largest = shape_for("calibrated", measured, 200).build(1, guesses, 200)
    assert len(largest) == 9


@pytest.mark.parametrize("measured", [None, Calibration(accuracy=(), reliability=())])
def test_calibrated_tree_of_heads_that_were_never_calibrated_is_refused(measured: Calibration | None) -> None:
    with pytest.raises(MedusaError, match="never calibrated"):
        shape_for("calibrated", measured, 8)
