"""What a step says the backbone held of its tree, against the definitions; and top-p against transformers'."""

from __future__ import annotations

import random

import pytest
import torch
from doubles.chances import warped
from doubles.engine_bench import Bench
from doubles.guessing_heads import FixedHeads
from transformers import TopPLogitsWarper

from medusa_chat.engine.beliefs import beliefs
from medusa_chat.engine.drafters.medusa import Medusa
from medusa_chat.engine.nucleus import TopP
from medusa_chat.engine.options import Sampling
from medusa_chat.engine.sampling import Sampler
from medusa_chat.engine.shapes.dynamic import DynamicShape
from medusa_chat.engine.tree import CandidateTree

FEW = 12


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"repetition_penalty": 1.6},
        {"temperature": 0.7},
        {"temperature": 1.3, "top_p": 0.8},
        {"temperature": 1.0, "top_k": 3},
        {"temperature": 0.9, "top_k": 9, "top_p": 0.9, "min_p": 0.05, "repetition_penalty": 1.3},
    ],
    ids=str,
)
def test_beliefs_are_the_distributions_written_out(options: dict[str, float]) -> None:
    draw = random.Random(3)
    sampling = Sampling(**options)
    # At temperature 0 they are shown as of temperature 1, and without what only matters above 0.
    shown = Sampling(temperature=1.0, repetition_penalty=sampling.repetition_penalty) if sampling.greedy else sampling
    for _ in range(40):
        nodes = draw.randrange(1, 10)
        tokens = [draw.randrange(FEW) for _ in range(nodes)]
        parents = [-1, *(draw.randrange(node) for node in range(1, nodes))]
        tree = CandidateTree.build(tokens, parents, [1.0] * nodes)
        prefix = [draw.randrange(FEW) for _ in range(3)]
        logits = torch.tensor([[draw.gauss(0.0, 2.0) for _ in range(FEW)] for _ in range(nodes)])
        untouched = logits.clone()
        held = beliefs(Sampler(sampling).posterior([*prefix, tokens[0]], tree, logits))
        wanted = [
            warped(logits[node], [*prefix, *tree.tokens[tree.ancestry()[node]].tolist()], shown)
            for node in range(nodes)
        ]
        for node in range(nodes):
            assert held.certainties[node] == pytest.approx(float(wanted[node].max()), abs=1e-5)
            assert held.favourites[node] == int(wanted[node].argmax())
            assert held.entropies[node] == pytest.approx(float(torch.special.entr(wanted[node]).sum()), abs=1e-4)
            if node:
                chance = float(wanted[parents[node]][tokens[node]])
                assert held.probabilities[node] == pytest.approx(chance, abs=1e-5)
        assert held.probabilities[0] == 1.0
        assert torch.equal(logits, untouched)


def test_every_step_that_is_explained_carries_them_and_no_other(llama: Bench) -> None:
    prompt = [3, 1, 4, 1, 5]
    answer = llama.plain(prompt, 8)
    heads = FixedHeads([answer[0:3], answer[1:4]])

    def steps(explain: bool) -> list:
        return llama.answer(prompt, Medusa(heads, DynamicShape(), 2, 3), budget=6, max_tokens=8, explain=explain)

    explained, quiet = steps(True), steps(False)
    assert [step.tokens for step in explained] == [step.tokens for step in quiet]
    assert all(step.beliefs is None for step in quiet)
    for step in explained:
        assert step.beliefs is not None
        assert len(step.beliefs.entropies) == len(step.tree)
        # At temperature 0 what was kept is the favourite of the node before it.
        favourites = [step.beliefs.favourites[node] for node in step.path]
        assert favourites == list(step.tokens)
        for reason in step.reasons:
            assert step.beliefs.probabilities[reason.node] == pytest.approx(reason.probability, abs=1e-6)


@pytest.mark.parametrize("top_p", [1e-6, 0.1, 0.5, 0.9, 0.99, 0.999])
@pytest.mark.parametrize("spread", [0.0, 0.5, 3.0, 12.0])
def test_top_p_keeps_what_transformers_keeps(top_p: float, spread: float) -> None:
    torch.manual_seed(1)
    scores = spread * torch.randn(6, 500)
    if spread:
        scores[0, 10:] = -torch.inf
        kept, wanted = TopP(top_p)(None, scores), TopPLogitsWarper(top_p)(None, scores)
        assert torch.equal(kept, wanted)
    else:
        # Of equally likely tokens any will do.
        share = TopP(top_p)(None, scores).isfinite().sum(dim=-1)
        assert ((share - 500 * top_p).abs() <= 1.0).all()
