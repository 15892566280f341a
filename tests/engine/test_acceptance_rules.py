"""What each rule keeps, and the numbers it gives for what fell, on posteriors made by hand."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence

import pytest
import torch
from doubles.engine_bench import Bench, tokens_of
from doubles.guessing_heads import FixedHeads
from doubles.tiny_families import VOCAB

from medusa_chat.engine.acceptance import AcceptanceRule, Greedy, Lossless, Threshold, Typical, rule_for
from medusa_chat.engine.drafters.medusa import Medusa
from medusa_chat.engine.options import LOSSY_RULES, RULES, Decoding, Sampling
from medusa_chat.engine.sampling import Posterior, Sampler
from medusa_chat.engine.shapes.cartesian import CartesianShape
from medusa_chat.engine.tree import CandidateTree

TOKENS = 6


def posterior(
    tokens: Sequence[int],
    parents: Sequence[int],
    chances: Mapping[int, Sequence[float]],
    *,
    explain: bool = True,
    **sampling: float,
) -> Posterior:
    """The nodes' distributions over `TOKENS` tokens, uniform where none is given; temperature 1."""
    tree = CandidateTree.build(tokens, parents, [1.0] * len(tokens))
    rows = [chances.get(node, [1 / TOKENS] * TOKENS) for node in range(len(tokens))]
    sampler = Sampler(Sampling(**{"temperature": 1.0, "seed": 1, **sampling}), explain=explain)
    return sampler.posterior([], tree, torch.tensor(rows).log())


def entropy(chances: Sequence[float]) -> float:
    return -sum(chance * math.log(chance) for chance in chances if chance > 0.0)


PEAKED = [0.90, 0.06, 0.02, 0.01, 0.007, 0.003]
FLAT = [0.30, 0.20, 0.15, 0.14, 0.11, 0.10]
BROAD = [0.22, 0.18, 0.17, 0.16, 0.15, 0.12]


@pytest.mark.parametrize("row", [PEAKED, FLAT, BROAD])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.09, 0.3), (0.3, 0.3), (0.3, 0.9), (0.5, 0.05), (0.01, 0.3)])
def test_typical_bound_is_the_papers(row: list[float], epsilon: float, delta: float) -> None:
    """Kept when p > min(epsilon, delta exp(-H)): Medusa paper, section 3.3.1. One child at a time decides each."""
    bound = min(epsilon, delta * math.exp(-entropy(row)))
    for token in range(TOKENS):
        verdict = Typical(epsilon, delta).accept(posterior([0, token], [-1, 0], {0: row}))
        kept = row[token] > bound
        assert verdict.path == ((0, 1) if kept else (0,))
        if kept:
            assert verdict.reasons == ()
            continue
        (fallen,) = verdict.reasons
        assert fallen.node == 1
        assert fallen.probability == pytest.approx(row[token], abs=1e-6)
        assert fallen.needed == pytest.approx(bound, abs=1e-6)
        assert fallen.entropy == pytest.approx(entropy(row), abs=1e-5)


def test_typical_cases_cover_both_sides_and_both_bounds() -> None:
    hard = [min(0.3, 0.9 * math.exp(-entropy(row))) == 0.3 for row in (PEAKED, FLAT, BROAD)]
    assert hard == [True, False, False]


@pytest.mark.parametrize("threshold", [0.05, 0.09, 0.155])
def test_threshold_is_a_hard_bound(threshold: float) -> None:
    for row in (PEAKED, FLAT, BROAD):
        for token in range(TOKENS):
            verdict = Threshold(threshold).accept(posterior([0, token], [-1, 0], {0: row}))
            assert verdict.path == ((0, 1) if row[token] > threshold else (0,))
            for fallen in verdict.reasons:
                assert fallen.needed == threshold
                assert fallen.entropy is None
                assert fallen.probability == pytest.approx(row[token], abs=1e-6)


def test_lossy_rules_see_the_warped_distribution() -> None:
    # At temperature 0.5 chances of .30 and .20 become .44 and .20 (squares, normalised).
    squares = [chance**2 / sum(other**2 for other in FLAT) for chance in FLAT]
    for token, bound in ((0, 0.35), (1, 0.35)):
        warm = Threshold(bound).accept(posterior([0, token], [-1, 0], {0: FLAT}))
        cool = Threshold(bound).accept(posterior([0, token], [-1, 0], {0: FLAT}, temperature=0.5))
        assert warm.path == (0,)
        assert (cool.path == (0, 1)) is (squares[token] > bound)


@pytest.mark.parametrize("rule", [Typical(), Threshold()])
def test_the_longest_path_that_holds_throughout_is_kept(rule: AcceptanceRule) -> None:
    #        0
    #      / | \
    #     1  2  3      1: likely; 2: less likely, but goes on; 3: falls, whatever follows it
    #        |  |
    #        4  5
    #           |
    #           6
    chances = {0: [0.5, 0.3, 0.001, 0.1, 0.05, 0.049], 2: PEAKED, 3: PEAKED, 5: PEAKED}
    verdict = rule.accept(posterior([5, 0, 1, 2, 0, 0, 0], [-1, 0, 0, 0, 2, 3, 5], chances))
    assert verdict.path == (0, 2, 4)
    assert [fallen.node for fallen in verdict.reasons] == [3], "nothing below a fallen node was looked at"


@pytest.mark.parametrize("rule", [Typical(), Threshold()])
@pytest.mark.parametrize("swapped", [False, True])
def test_among_equally_long_paths_the_likeliest_is_kept(rule: AcceptanceRule, swapped: bool) -> None:
    # Likelihoods .5 x .2 and .3 x .9: the second wins although its first node is the less likely one.
    tokens = [5, 0, 1, 1, 0]
    chances = {0: [0.5, 0.3, 0.05, 0.05, 0.05, 0.05], 1: FLAT, 2: PEAKED}
    if swapped:
        tokens, chances = [5, 1, 0, 0, 1], {0: chances[0], 1: PEAKED, 2: FLAT}
    verdict = rule.accept(posterior(tokens, [-1, 0, 0, 1, 2], chances))
    assert verdict.path == ((0, 1, 3) if swapped else (0, 2, 4))


@pytest.mark.parametrize("rule", [Typical(), Threshold(), Lossless()])
def test_the_token_after_the_path_is_drawn_from_its_last_node(rule: AcceptanceRule) -> None:
    certain = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    sure = [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    verdict = rule.accept(posterior([0, 1, 2], [-1, 0, 0], {0: sure, 1: certain, 2: PEAKED}))
    assert verdict.path == (0, 1)
    assert verdict.next_root == 3


def test_greedy_follows_the_most_likely_token_and_says_what_fell() -> None:
    chances = {0: FLAT, 2: [0.1, 0.1, 0.5, 0.1, 0.1, 0.1]}
    verdict = Greedy().accept(posterior([5, 1, 0, 3, 0, 4], [-1, 0, 0, 2, 2, 1], chances))
    assert verdict.path == (0, 2)
    assert verdict.next_root == 2
    told = {fallen.node: (fallen.probability, fallen.needed, fallen.entropy) for fallen in verdict.reasons}
    assert told.keys() == {1, 3, 4}, "siblings of kept nodes and children of the last one; not what hangs below them"
    assert told[1] == (pytest.approx(0.20, abs=1e-6), None, None)
    assert told[3] == told[4] == (pytest.approx(0.1, abs=1e-6), None, None)


def test_lossless_descends_only_where_the_draw_is_a_child() -> None:
    for seed in range(50):
        tree = posterior([5, 0, 2, 1], [-1, 0, 0, 1], {0: FLAT, 1: BROAD}, seed=seed)
        verdict = Lossless().accept(tree)
        again = posterior([5], [-1], {0: FLAT}, seed=seed)
        first = Lossless().accept(again).next_root
        if first in (0, 2):
            assert verdict.path[1] == (1 if first == 0 else 2)
        else:
            assert verdict.path == (0,)
            assert verdict.next_root == first
            assert {fallen.node for fallen in verdict.reasons} == {1, 2}


@pytest.mark.parametrize("rule", [Greedy(), Lossless(), Typical(), Threshold()])
def test_equal_siblings_are_harmless(rule: AcceptanceRule) -> None:
    sure = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    verdict = rule.accept(posterior([0, 2, 2, 2], [-1, 0, 0, 1], {0: sure, 1: sure, 2: sure, 3: PEAKED}))
    assert verdict.path[0] == 0
    kept = [2] * (len(verdict.path) - 1)
    assert [[0, 2, 2, 2][node] for node in verdict.path[1:]] == kept
    assert len(kept) >= 1


def test_equal_siblings_keep_the_text(llama: Bench) -> None:
    draw = random.Random(2)
    for rule in (Greedy(), Lossless(), Typical(), Threshold()):
        prompt = [draw.randrange(VOCAB) for _ in range(6)]
        answer = llama.plain(prompt, 12)
        rows = [[answer[0], answer[1], answer[0]], [answer[1], answer[1], answer[2]], [answer[2], answer[2], answer[3]]]
        steps = llama.answer(
            prompt, Medusa(FixedHeads(rows), CartesianShape(), 3, 3), rule=rule, budget=40, max_tokens=12
        )
        assert tokens_of(steps) == answer


@pytest.mark.parametrize("rule", [Lossless(), Typical(), Typical(0.5, 5.0), Threshold(), Threshold(0.9)])
def test_at_temperature_zero_every_rule_is_greedy(rule: AcceptanceRule) -> None:
    draw = random.Random(4)
    for _ in range(100):
        nodes = draw.randrange(1, 16)
        tokens = [draw.randrange(TOKENS) for _ in range(nodes)]
        parents = [-1, *(draw.randrange(node) for node in range(1, nodes))]
        siblings = set(zip(parents, tokens, strict=True))
        if len(siblings) < nodes:
            continue
        rows = {node: [draw.random() for _ in range(TOKENS)] for node in range(nodes)}
        wanted = Greedy().accept(posterior(tokens, parents, rows, temperature=0.0))
        verdict = rule.accept(posterior(tokens, parents, rows, temperature=0.0))
        assert (verdict.path, verdict.next_root) == (wanted.path, wanted.next_root)


@pytest.mark.parametrize("rule", [Greedy(), Lossless()])
def test_what_nobody_looks_at_is_not_computed(rule: AcceptanceRule) -> None:
    tree = [5, 1, 0, 3], [-1, 0, 0, 2], {0: FLAT}
    wanted, verdict = (rule.accept(posterior(*tree, explain=explain)) for explain in (True, False))
    assert (verdict.path, verdict.next_root) == (wanted.path, wanted.next_root)
    assert wanted.reasons
    assert not verdict.reasons


def test_options_name_every_rule_and_which_are_lossy() -> None:
    rules = {name: rule_for(Decoding(rule=name, epsilon=0.2, delta=0.7, threshold=0.12)) for name in RULES}
    assert rules == {
        "greedy": Greedy(),
        "lossless": Lossless(),
        "typical": Typical(0.2, 0.7),
        "threshold": Threshold(0.12),
    }
    assert {"typical", "threshold"} == LOSSY_RULES
