"""Many sequences in one pass, each at a place of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
import torch
from doubles.small_backbone import small_backbone
from doubles.tiny_families import FAMILIES, Reference, tiny_model

from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.tree import CandidateTree
from medusa_chat.training.continuous import Request, answer_all, choose

EOS = frozenset({1})
PROMPTS = [tuple(range(2 + start, 4 + start + start % 7)) for start in range(25)] + [(5,)]


def plain(backbone: Backbone, prompt: Sequence[int], max_tokens: int) -> list[int]:
    """Greedy decoding, one token a step."""
    backbone.rewind(0)
    backbone.prefill(prompt[:-1])
    answer: list[int] = []
    token = prompt[-1]
    while len(answer) < max_tokens and token != 1:
        logits = backbone.verify(CandidateTree.root_only(token)).logits
        backbone.commit([0])
        token = int(logits[0].argmax())
        answer.append(token)
    return answer


def run(
    backbone: Backbone, requests: Sequence[Request], slots: int = 4, seed: int = 0
) -> dict[tuple[int, ...], list[int]]:
    return {one.prompt_ids: one.answer_ids for one in answer_all(backbone.model, iter(requests), slots, seed)}


def test_greedy_answers_are_those_of_plain_decoding() -> None:
    backbone = small_backbone(seed=21)
    lengths = [20 - number % 5 for number in range(len(PROMPTS))]
    requests = [Request(prompt, length, stop_ids=EOS) for prompt, length in zip(PROMPTS, lengths, strict=True)]
    answers = run(backbone, requests)
    assert answers == {prompt: plain(backbone, prompt, length) for prompt, length in zip(PROMPTS, lengths, strict=True)}
    # Both ways to end occur, so that sequences leaving the batch early were part of the proof.
    assert {answer[-1] == 1 for answer in answers.values()} == {True, False}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_of_models_is_answered_as_without_a_cache(family: str) -> None:
    model = tiny_model(family)
    reference = Reference(model)
    prompts = [tuple(range(3 + number, 3 + number + size)) for number, size in enumerate((2, 9, 1, 14, 5))]
    answers = {
        one.prompt_ids: one.answer_ids for one in answer_all(model, iter([Request(p, 12) for p in prompts]), 3, 0)
    }
    assert answers == {prompt: reference.greedy(prompt, 12) for prompt in prompts}


def test_sampled_answers_do_not_depend_on_company_or_order() -> None:
    backbone = small_backbone(seed=5)
    requests = [
        Request(prompt, 10, salt=number, temperature=1.5, stop_ids=EOS) for number, prompt in enumerate(PROMPTS)
    ]
    one = run(backbone, [replace(each, answer_ids=[]) for each in requests], slots=7, seed=3)
    other = run(backbone, [replace(each, answer_ids=[]) for each in reversed(requests)], slots=2, seed=3)
    assert one == other
    assert one != run(backbone, [replace(each, answer_ids=[]) for each in requests], slots=7, seed=4)


def test_a_request_with_a_beginning_goes_on_behind_it() -> None:
    backbone = small_backbone(seed=5)
    whole = run(backbone, [Request(PROMPTS[3], 12, salt=9, temperature=1.5)])[PROMPTS[3]]
    again = run(backbone, [Request(PROMPTS[3], 12, salt=9, temperature=1.5, answer_ids=whole[:5])])[PROMPTS[3]]
    assert again == whole


def test_a_request_may_be_made_from_an_answer_before() -> None:
    backbone = small_backbone(seed=21)
    ended: list[Request] = []

    def requests() -> Iterator[Request | None]:
        yield Request(PROMPTS[0], 3)
        yield Request(PROMPTS[1], 9)
        while not ended:
            yield None
        first = ended[0]
        yield Request((*first.prompt_ids, *first.answer_ids), 4)

    answering = answer_all(backbone.model, requests(), 2, 0)
    while (one := next(answering, None)) is not None:
        ended.append(one)
    assert [len(one.answer_ids) for one in ended] == [3, 4, 9]
    assert ended[1].answer_ids == plain(backbone, (*PROMPTS[0], *ended[0].answer_ids), 4)


def test_nobody_asking_is_no_work() -> None:
    assert list(answer_all(small_backbone().model, iter([]), 4, 0)) == []


def test_sampling_follows_the_distribution() -> None:
    logits = torch.tensor([[0.0, 1.0, -1.0, 2.0]])
    rows = 20_000
    chances = torch.rand(rows, generator=torch.Generator().manual_seed(1))
    tokens = choose(logits.expand(rows, -1), torch.full((rows,), 2.0), torch.ones(rows), chances)
    share = torch.bincount(tokens, minlength=4) / rows
    torch.testing.assert_close(share, (logits[0] / 2).softmax(0), atol=0.015, rtol=0)
    assert choose(logits, torch.zeros(1), torch.ones(1), torch.zeros(1)).tolist() == [3]


def test_a_nucleus_keeps_the_likeliest_tokens_that_reach_it() -> None:
    logits = torch.tensor([0.5, 0.3, 0.15, 0.05]).log()[None]
    rows = 4_000
    chances = torch.rand(rows, generator=torch.Generator().manual_seed(1))
    tokens = choose(logits.expand(rows, -1), torch.ones(rows), torch.full((rows,), 0.7), chances)
    share = torch.bincount(tokens, minlength=4) / rows
    torch.testing.assert_close(share, torch.tensor([0.625, 0.375, 0.0, 0.0]), atol=0.03, rtol=0)


def test_tokens_without_a_chance_are_never_drawn() -> None:
    logits = torch.tensor([[-torch.inf, 0.0, -torch.inf, 0.0, -torch.inf]]).expand(2_000, -1)
    chances = torch.rand(2_000, generator=torch.Generator().manual_seed(2))
    assert set(choose(logits, torch.ones(2_000), torch.ones(2_000), chances).tolist()) == {1, 3}
