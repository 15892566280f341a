"""Where an answer ends the cache ends with it: limits, end tokens, a full context, cancelling, the next turn."""

from __future__ import annotations

import random

import pytest
import torch
from doubles.engine_bench import Bench, tokens_of
from doubles.guessing_heads import FixedHeads, KnowingHeads
from doubles.tiny_families import VOCAB, Reference, tiny_model

from medusa_chat.engine.acceptance import Greedy, Lossless
from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.budget import FixedBudget
from medusa_chat.engine.decode import Controls, decode, read_prompt
from medusa_chat.engine.drafters.base import Drafter
from medusa_chat.engine.drafters.joint import Joint
from medusa_chat.engine.drafters.lookup import Lookup
from medusa_chat.engine.drafters.medusa import Medusa
from medusa_chat.engine.drafters.plain import Plain
from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.options import Limits, Sampling
from medusa_chat.engine.sampling import Sampler
from medusa_chat.engine.shapes.cartesian import CartesianShape
from medusa_chat.engine.shapes.dynamic import DynamicShape
from medusa_chat.engine.shapes.paths import PUBLISHED_63, PathShape
from medusa_chat.engine.text.ending import Ending

PROMPT = [3, 1, 4, 1, 5, 9, 2, 6]


def knowing(bench: Bench, prompt: list[int], rate: float = 1.0, count: int = 4) -> Medusa:
    """Nearly always right, so most steps keep several nodes."""
    text = [*prompt, *bench.plain(prompt, 60)]
    heads = KnowingHeads(text, lambda: bench.backbone.length, VOCAB, rate, seed=3, count=count)
    return Medusa(heads, PathShape(PUBLISHED_63), heads=count, top_k=4)


def small(context: int) -> Bench:
    model = tiny_model("llama", max_position_embeddings=context)
    return Bench(Backbone(model), Reference(model))


def test_exactly_max_tokens_for_every_value(llama: Bench) -> None:
    drafter = knowing(llama, PROMPT)
    longest = max(len(step.tokens) for step in llama.answer(PROMPT, drafter, budget=64, max_tokens=40))
    assert longest >= 4
    for max_tokens in range(1, 4 * longest):
        steps = llama.answer(PROMPT, drafter, budget=64, max_tokens=max_tokens)
        assert tokens_of(steps) == llama.plain(PROMPT, max_tokens)
        assert [step.finish for step in steps] == [None] * (len(steps) - 1) + ["length"]
        assert [step.index for step in steps] == list(range(1, len(steps) + 1))


def test_end_token_inside_a_kept_path_ends_the_answer_there(bench: Bench) -> None:
    """Each token of a greedy answer in turn is declared to be an end token."""
    answer = bench.plain(PROMPT, 30)
    inside = 0
    for place in range(30):
        end = answer[place]
        first = answer.index(end)
        steps = bench.answer(PROMPT, knowing(bench, PROMPT), budget=64, max_tokens=50, eos=[end])
        assert tokens_of(steps) == answer[: first + 1]
        assert steps[-1].finish == "eos"
        # The path itself was cut: the kept nodes are a beginning of what the rule kept.
        last = steps[-1]
        assert last.path == tuple(sorted(last.path))
        assert last.path[0] == 0
        inside += last.tokens[-1] in {int(token) for token in last.tree.tokens[1:]}
    assert inside > 3


def test_conversation_goes_on_right_after_an_end_token(bench: Bench) -> None:
    answer = bench.plain(PROMPT, 30)
    end = answer[13]
    steps = bench.answer(PROMPT, knowing(bench, PROMPT), budget=64, max_tokens=50, eos=[end])
    conversation = [*PROMPT, *tokens_of(steps), 7, 7, 8]
    rows = bench.backbone.length
    computed: list[int] = []
    read_prompt(bench.backbone, conversation, lambda done, total: computed.append(total))
    assert computed == [len(conversation) - 1 - rows], "the earlier turn was reused"
    again = bench.answer(conversation, knowing(bench, conversation), budget=64, max_tokens=20)
    assert tokens_of(again) == bench.plain(conversation, 20)


@pytest.mark.parametrize("ends", [None, 4, [4, 9]])
def test_end_tokens_may_be_none_one_or_several(ends: int | list[int] | None) -> None:
    model = tiny_model("llama", eos_token_id=ends)
    wanted = frozenset() if ends is None else frozenset([4] if ends == 4 else [4, 9])
    assert Backbone(model).eos_ids == wanted
    model = tiny_model("llama", eos_token_id=2)
    model.generation_config.eos_token_id = ends
    assert Backbone(model).eos_ids == wanted | {2}


def test_answer_ends_at_the_first_of_several_end_tokens(llama: Bench) -> None:
    answer = llama.plain(PROMPT, 30)
    ends = [answer[20], answer[11], answer[25]]
    first = min(answer.index(end) for end in ends)
    steps = llama.answer(PROMPT, knowing(llama, PROMPT), budget=64, max_tokens=50, eos=ends)
    assert tokens_of(steps) == answer[: first + 1]


@pytest.mark.parametrize("family", ["llama", "mistral", "gemma3"])
def test_full_context_ends_the_answer_exactly_there(family: str) -> None:
    context = 40
    model = tiny_model(family, max_position_embeddings=context)
    bench = Bench(Backbone(model), Reference(model))
    for length in (1, 8, 33, 39, 40):
        prompt = [length, *PROMPT * 5][:length]
        # The last token needs no row of its own.
        answer = bench.plain(prompt, context + 1 - length)
        drafters: list[Drafter] = [
            Plain(),
            Joint(None, Lookup(), None),
            Medusa(FixedHeads([[1, 2], [3, 4]]), CartesianShape(), 2, 2),
        ]
        heads = KnowingHeads([*prompt, *answer], lambda: bench.backbone.length, VOCAB, 1.0, count=5)
        drafters.append(Medusa(heads, DynamicShape(), 5, 10))
        for drafter in drafters:
            steps = bench.answer(prompt, drafter, budget=64, max_tokens=1000)
            assert tokens_of(steps) == answer
            assert steps[-1].finish == "length"
            assert bench.backbone.length == context
            # No node ever stood beyond the last position the model knows.
            rows = length - 1
            for step in steps:
                assert rows + int(step.tree.depths().max()) < context
                assert rows + len(step.tree) <= context
                rows += len(step.tokens)


def test_prompt_that_fills_the_context_is_refused_with_the_numbers() -> None:
    bench = small(16)
    for length in (17, 18, 300):
        with pytest.raises(MedusaError, match=rf"{length} tokens.* 16\b"):
            bench.answer([1] * length)
        assert bench.backbone.length == 0
    assert len(tokens_of(bench.answer([1] * 16))) == 1


def test_empty_prompt_is_refused(llama: Bench) -> None:
    llama.answer(PROMPT, max_tokens=2)
    with pytest.raises(MedusaError, match="prompt is empty"):
        llama.answer([])
    assert llama.backbone.ids[: len(PROMPT)] == PROMPT


def test_prompt_of_one_token_has_no_row_before_it(bench: Bench) -> None:
    drafter = knowing(bench, [7])
    steps = bench.answer([7], drafter, budget=64, max_tokens=12)
    assert tokens_of(steps) == bench.plain([7], 12)
    assert len(steps[0].tree) == 1, "no hidden state yet, so nothing was drafted"
    assert len(steps[1].tree) > 1
    # Right after a longer conversation, too.
    assert tokens_of(bench.answer([7], drafter, budget=64, max_tokens=12)) == bench.plain([7], 12)


def test_budget_of_one_is_plain_decoding(llama: Bench) -> None:
    steps = llama.answer(PROMPT, knowing(llama, PROMPT), budget=1, max_tokens=10)
    assert [len(step.tree) for step in steps] == [1] * 10
    assert tokens_of(steps) == llama.plain(PROMPT, 10)


def test_token_id_zero_after_a_leaf_is_not_taken_for_a_node() -> None:
    """The backbone always says token 0: nothing is kept of trees without it, and no row too many is committed."""
    model = tiny_model("llama")
    model.lm_head = torch.nn.Linear(32, VOCAB)
    with torch.no_grad():
        model.lm_head.bias.zero_()[0] = 1e4
    bench = Bench(Backbone(model), Reference(model))
    ragged = PathShape([(0,), (1,), (0, 0), (0, 0, 0)])
    for rows, length in (([[5, 6], [7, 8], [9, 10]], 1), ([[0, 6], [7, 8], [9, 10]], 2), ([[5, 0], [0, 8], [0, 9]], 2)):
        steps = bench.answer(PROMPT, Medusa(FixedHeads(rows), ragged, 3, 2), budget=64, max_tokens=12)
        assert tokens_of(steps) == [0] * 12
        assert {len(step.tokens) for step in steps} == {length}
    zeros = Medusa(FixedHeads([[0, 6], [0, 8], [0, 10]]), ragged, 3, 2)
    assert {len(step.tokens) for step in bench.answer(PROMPT, zeros, budget=64, max_tokens=12)} == {4}
    readout = bench.backbone.prefill([1]) or bench.backbone.last_hidden
    torch.testing.assert_close(readout, bench.reference.hidden(bench.backbone.ids), atol=1e-5, rtol=0.0)


def test_tree_deeper_than_the_heads_and_ranks_beyond_their_guesses(llama: Bench) -> None:
    deep = PathShape([(0,), (0, 0), (0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0, 0), (9,), (9, 0), (0, 9), (1,), (1, 0)])
    heads = knowing(llama, PROMPT, count=2).model
    for top_k in (1, 2, 4):
        steps = llama.answer(PROMPT, Medusa(heads, deep, heads=9, top_k=top_k), budget=64, max_tokens=20)
        assert tokens_of(steps) == llama.plain(PROMPT, 20)
        assert max(int(step.tree.depths().max()) for step in steps) == 2
        assert {len(step.tree) for step in steps} == {3 if top_k == 1 else 5}


def test_cancelling_between_steps_leaves_a_cache_that_is_right(bench: Bench) -> None:
    for stop_after in (0, 1, 2, 3):
        controls = Controls(knowing(bench, PROMPT), Lossless(), FixedBudget(64))
        sampler, ending = Sampler(Sampling()), Ending(Limits(max_tokens=40), frozenset())
        steps = decode(bench.backbone, controls, sampler, PROMPT, ending)
        ids = [*PROMPT, *(token for _ in range(stop_after) for token in next(steps).tokens)]
        steps.close()  # type: ignore[attr-defined]
        if stop_after:
            assert bench.backbone.ids == ids[:-1]
        # The same conversation goes on from what was written, another one starts anew.
        rest = bench.answer(ids, knowing(bench, ids), budget=64, max_tokens=12)
        assert tokens_of(rest) == bench.plain(ids, 12)
        other = [*PROMPT[:5], 60, 61]
        assert tokens_of(bench.answer(other, knowing(bench, other), budget=64, max_tokens=12)) == bench.plain(other, 12)


def test_a_drafter_that_fails_leaves_a_cache_that_is_right(llama: Bench) -> None:
    class Broken(Plain):
        def propose(self, context, budget):  # type: ignore[no-untyped-def]
            if len(context.ids) > len(PROMPT) + 3:
                raise RuntimeError("out of guesses")
            return super().propose(context, budget)

    with pytest.raises(RuntimeError, match="out of guesses"):
        llama.answer(PROMPT, Broken())
    ids = [*PROMPT, *llama.plain(PROMPT, 4)]
    assert llama.backbone.ids == ids[:-1]
    assert tokens_of(llama.answer(ids, max_tokens=5)) == llama.plain(ids, 5)


def test_any_next_prompt_after_any_answer(bench: Bench) -> None:
    """Shared beginnings of every length: the cache is reused as far as it holds and no further."""
    draw = random.Random(8)
    prompt = list(PROMPT)
    for _ in range(12):
        steps = bench.answer(prompt, knowing(bench, prompt), budget=64, max_tokens=draw.randrange(1, 12))
        assert tokens_of(steps) == bench.plain(prompt, len(tokens_of(steps)))
        conversation = [*prompt, *tokens_of(steps)]
        kept = draw.choice([len(conversation), len(prompt), draw.randrange(1, len(conversation))])
        prompt = [*conversation[:kept], *(draw.randrange(VOCAB) for _ in range(draw.randrange(0, 4)))][:40]


@pytest.mark.parametrize("change", [0, -1, 1])
def test_reading_a_prompt_computes_only_what_is_new(llama: Bench, change: int) -> None:
    read_prompt(llama.backbone, PROMPT)
    hidden = llama.backbone.last_hidden
    totals: list[int] = []
    prompt = [PROMPT, PROMPT[:-1], [*PROMPT, 5]][change]
    read_prompt(llama.backbone, prompt, lambda done, total: totals.append(total))
    # One token shorter: the row before is there, but its hidden state has to be computed again.
    assert totals == ([] if change == 0 else [1])
    assert llama.backbone.ids == prompt[:-1]
    assert llama.backbone.last_hidden is not None
    torch.testing.assert_close(llama.backbone.last_hidden, llama.reference.hidden(prompt[:-1]), atol=1e-5, rtol=0.0)
    assert (llama.backbone.last_hidden is hidden) is (change == 0)


def test_steps_tell_times_and_rejections(llama: Bench) -> None:
    for step in llama.answer(PROMPT, knowing(llama, PROMPT, rate=0.5), rule=Greedy(), budget=16, max_tokens=10):
        assert step.ms.verify > 0.0
        parts = (step.ms.draft, step.ms.verify, step.ms.accept, step.ms.text, step.ms.commit)
        assert min(parts) > 0.0
        assert step.ms.total == pytest.approx(sum(parts))
        assert not {fallen.node for fallen in step.reasons} & set(step.path)
        assert all(0.0 <= fallen.probability <= 1.0 for fallen in step.reasons)


def test_observe_is_called_once_a_step_with_that_step(llama: Bench) -> None:
    told: list[object] = []

    class Listening(Plain):
        def observe(self, step, readout):  # type: ignore[no-untyped-def]
            assert len(readout.logits) == len(step.tree)
            told.append(step)

    assert llama.answer(PROMPT, Listening(), max_tokens=9) == told
