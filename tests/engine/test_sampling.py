"""The `lossless` rule samples what plain sampling would: tested against the enumerated distribution."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from doubles.chances import count_beginnings, enumerated, fit, warped
from doubles.engine_bench import Bench, tokens_of
from doubles.guessing_heads import FixedHeads
from doubles.table_backbone import TableBackbone
from doubles.tiny_families import Reference, tiny_model

from medusa_chat.engine.acceptance import AcceptanceRule, Greedy, Lossless, Threshold, Typical
from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.drafters.base import Drafter
from medusa_chat.engine.drafters.joint import Joint
from medusa_chat.engine.drafters.lookup import Lookup
from medusa_chat.engine.drafters.medusa import Medusa
from medusa_chat.engine.drafters.plain import Plain
from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.options import Sampling
from medusa_chat.engine.sampling import Sampler
from medusa_chat.engine.shapes.dynamic import DynamicShape
from medusa_chat.engine.tree import CandidateTree

FEW = 12
"""Vocabulary small enough to enumerate."""
RUNS = 2000
PROMPT = (3, 5, 3, 8)
LIKELY = 1e-3
"""A right sampler falls below this p-value once in a thousand seeds; the seeds here are fixed."""


@pytest.fixture(scope="module")
def few() -> Bench:
    """A real backbone."""
    model = tiny_model("llama", vocab_size=FEW, num_hidden_layers=1, initializer_range=0.3)
    return Bench(Backbone(model), Reference(model))


@pytest.fixture(scope="module")
def fast(few: Bench) -> Bench:
    """Its logits from memory."""
    return Bench(TableBackbone(few.reference), few.reference)


@pytest.fixture(scope="module")
def unwarped(few: Bench) -> list[list[int]]:
    """Answers of the real backbone at temperature 1."""
    return answers(few, drafter(few), 2, temperature=1.0)


def drafter(few: Bench) -> Medusa:
    """Offers tokens the backbone finds likely, each head in another order, so that paths of all lengths are kept."""
    best = few.reference.logits(PROMPT)[-1].argsort(descending=True).tolist()
    heads = FixedHeads([best[:5], best[2:6] + best[:1], best[1:4] + best[:2]])
    return Medusa(heads, DynamicShape(), heads=3, top_k=5)


def answers(
    few: Bench, proposer: Drafter, count: int, rule: AcceptanceRule | None = None, runs: int = RUNS, **sampling: Any
) -> list[list[int]]:
    return [
        tokens_of(few.answer(PROMPT, proposer, rule=rule, budget=12, max_tokens=count, seed=seed, **sampling))
        for seed in range(runs)
    ]


def fit_of(few: Bench, written: Sequence[Sequence[int]], count: int, **sampling: Any) -> float:
    expected = enumerated(lambda ids: few.reference.logits(ids)[-1], PROMPT, count, Sampling(**sampling))
    assert abs(sum(expected.values()) - 1.0) < 1e-9
    return fit(count_beginnings(written, count), expected)


def test_lossless_keeps_the_distribution_of_the_backbone(few: Bench, unwarped: list[list[int]]) -> None:
    assert fit_of(few, unwarped, 2, temperature=1.0) > LIKELY


@pytest.mark.parametrize(
    ("count", "sampling"),
    [
        (2, {"temperature": 0.6}),
        (2, {"temperature": 1.4, "top_p": 0.8}),
        (3, {"temperature": 1.0, "top_k": 4}),
        (2, {"temperature": 1.2, "min_p": 0.15}),
        (2, {"temperature": 1.0, "repetition_penalty": 1.7}),
        (2, {"temperature": 0.9, "top_k": 9, "top_p": 0.9, "min_p": 0.05, "repetition_penalty": 1.3}),
    ],
    ids=str,
)
def test_lossless_keeps_every_warped_distribution(fast: Bench, count: int, sampling: dict[str, float]) -> None:
    written = answers(fast, drafter(fast), count, **sampling)
    assert fit_of(fast, written, count, **sampling) > LIKELY


def test_plain_sampling_and_lookup_keep_the_distribution(fast: Bench) -> None:
    for proposer in (Plain(), Joint(None, Lookup(), None)):
        written = answers(fast, proposer, 2, temperature=0.8, top_p=0.95)
        assert fit_of(fast, written, 2, temperature=0.8, top_p=0.95) > LIKELY


def test_trees_were_really_used(few: Bench) -> None:
    kept: Counter[int] = Counter()
    for seed in range(100):
        steps = few.answer(PROMPT, drafter(few), budget=12, max_tokens=6, temperature=1.0, seed=seed)
        kept.update(len(step.path) for step in steps)
    assert kept[1] > 20
    assert kept[2] > 20
    assert kept[3] + kept[4] > 5


@pytest.mark.parametrize("rule", [Typical(), Threshold(), Greedy()])
def test_the_fit_notices_another_distribution(fast: Bench, rule: AcceptanceRule) -> None:
    """Control: rules that are lossy at temperature 1, and one that ignores it, fail the very same test."""
    written = answers(fast, drafter(fast), 2, rule, temperature=1.0)
    assert fit_of(fast, written, 2, temperature=1.0) < 1e-9


@pytest.mark.parametrize(
    "ignored", [{"repetition_penalty": 1.7}, {"temperature": 0.6}, {"top_p": 0.8}, {"min_p": 0.15}], ids=str
)
def test_the_fit_notices_an_ignored_option(few: Bench, unwarped: list[list[int]], ignored: dict[str, float]) -> None:
    assert fit_of(few, unwarped, 2, **{"temperature": 1.0, **ignored}) < 1e-9


def test_posterior_is_the_distribution_written_out(few: Bench) -> None:
    """Numbers, not samples: every node of random trees, all options at once; penalties see prefix + path."""
    draw = random.Random(3)
    for _ in range(60):
        sampling = Sampling(
            temperature=draw.uniform(0.2, 3.0),
            top_k=draw.randrange(0, 14),
            top_p=draw.uniform(0.2, 1.0),
            min_p=draw.choice([0.0, draw.uniform(0.0, 0.5)]),
            repetition_penalty=draw.choice([1.0, draw.uniform(0.5, 2.0)]),
        )
        prefix = [draw.randrange(FEW) for _ in range(draw.randrange(0, 5))]
        nodes = draw.randrange(1, 10)
        tree = CandidateTree.build(
            [draw.randrange(FEW) for _ in range(nodes)],
            [-1, *(draw.randrange(node) for node in range(1, nodes))],
            [1.0] * nodes,
        )
        logits = torch.tensor([[draw.gauss(0.0, 2.0) for _ in range(FEW)] for _ in range(nodes)])
        posterior = Sampler(sampling).posterior([*prefix, tree.token_ids[0]], tree, logits)
        untouched = logits.clone()
        for node in range(nodes):
            path = tree.tokens[tree.ancestry()[node]].tolist()
            wanted = warped(logits[node], [*prefix, *path], sampling)
            torch.testing.assert_close(posterior.distribution(node).double(), wanted, atol=1e-5, rtol=0.0)
        assert torch.equal(logits, untouched)


@pytest.mark.parametrize("family", ["llama", "gemma3"])
@pytest.mark.parametrize("penalty", [1.05, 1.8, 0.7])
def test_repetition_penalty_with_a_tree_equals_plain_decoding_with_it(
    family: str, penalty: float, benches: Any
) -> None:
    bench = benches(family)
    draw = random.Random(5)
    kept = 0
    for _ in range(6):
        prompt = [draw.randrange(96) for _ in range(draw.randrange(1, 12))]
        ids = list(prompt)
        for _ in range(24):
            logits = bench.reference.logits(ids)[-1]
            ids.append(int(warped(logits, ids, Sampling(temperature=1.0, repetition_penalty=penalty)).argmax()))
        # Heads that offer the coming tokens in turn, near enough that repeats happen inside one tree.
        answer = ids[len(prompt) :]
        heads = FixedHeads([answer[0:6], answer[1:7], answer[2:8]])
        proposer = Medusa(heads, DynamicShape(), 3, 6)
        for rule in (Greedy(), Lossless()):
            steps = bench.answer(prompt, proposer, rule=rule, budget=30, max_tokens=24, repetition_penalty=penalty)
            assert tokens_of(steps) == answer
            kept += sum(len(step.path) - 1 for step in steps)
    assert kept > 20


def test_same_seed_same_answer_other_seed_other_answer(few: Bench) -> None:
    def run(seed: int | None) -> list[int]:
        return tokens_of(few.answer(PROMPT, drafter(few), max_tokens=30, temperature=1.0, seed=seed))

    first = run(7)
    torch.manual_seed(0)  # Nothing depends on the global generator.
    assert run(7) == first
    torch.rand(5)
    assert run(7) == first
    assert run(8) != first
    assert run(None) != run(None)


def test_unnamed_seeds_are_told_and_repeat_the_answer(few: Bench) -> None:
    seed = Sampler(Sampling(temperature=1.0)).seed
    assert seed != Sampler(Sampling(temperature=1.0)).seed
    assert Sampler(Sampling(temperature=1.0, seed=seed)).seed == seed


@pytest.mark.parametrize("seed", [-1, 2**64, 10**30])
def test_seeds_the_generator_cannot_take_are_refused(seed: int) -> None:
    with pytest.raises(MedusaError, match="seed is"):
        Sampling(seed=seed)
