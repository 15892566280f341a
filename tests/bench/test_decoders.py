"""Our own decoders as contestants."""

from __future__ import annotations

from dataclasses import fields

import pytest

from medusa_chat.bench.conversation import most_tokens, prompt_of
from medusa_chat.bench.decoders import OwnDecoder
from medusa_chat.bench.suite import Question
from medusa_chat.engine.options import Decoding
from medusa_chat.engine.step import Timings
from medusa_chat.host.session import Session

PROMPT = [3, 50, 60, 70, 80, 90]


def test_own_decoders_agree_and_count_every_token(session: Session):
    plain, medusa, lookup = (
        OwnDecoder(session, Decoding(name)).answer(PROMPT, 24)  # type: ignore[arg-type]
        for name in ("plain", "medusa", "lookup")
    )
    assert plain.tokens == medusa.tokens == lookup.tokens
    for answer in (plain, medusa, lookup):
        assert answer.decoded == len(answer.tokens) == 24
        assert answer.seconds > 0
        assert answer.prefill_seconds > 0
    assert plain.steps == 24
    assert medusa.steps <= 24


def test_an_answer_tells_its_split_its_nodes_its_first_token_and_the_memory_it_took(session: Session):
    plain, medusa = (OwnDecoder(session, Decoding(name, budget=4)).answer(PROMPT, 24) for name in ("plain", "medusa"))  # type: ignore[arg-type]
    assert plain.nodes == plain.steps
    assert medusa.steps < medusa.nodes <= 4 * medusa.steps
    for answer in (plain, medusa):
        assert set(answer.split) == {field.name for field in fields(Timings)}
        # The parts of all steps leave something for the loop around them.
        assert 0 < sum(answer.split.values()) < 1000 * answer.seconds
        assert answer.prefill_seconds < answer.first_token < answer.latency
        assert answer.peak_bytes > 50 * 2**20


def test_what_another_left_in_the_cache_is_read_again_but_the_own_turn_before_is_not(
    session: Session, monkeypatch: pytest.MonkeyPatch
):
    read: list[int] = []
    prefill = session.backbone.prefill
    monkeypatch.setattr(session.backbone, "prefill", lambda ids, told=None: (read.append(len(ids)), prefill(ids, told)))
    question = Question(1, "math", ("What is two and two?", "And three?"))
    plain, medusa = (OwnDecoder(session, Decoding(name)) for name in ("plain", "medusa"))  # type: ignore[arg-type]
    first = prompt_of(session, question, [])
    answer = plain.answer(first, 8)
    second = prompt_of(session, question, [answer.tokens])
    plain.answer(second, 8)
    assert read[0] == len(first) - 1
    assert sum(read[1:]) < len(second) - len(first)
    read.clear()
    medusa.answer(second, 8)
    assert sum(read) == len(second) - 1


def test_a_conversation_is_templated_with_the_answers_so_far_and_bounded(session: Session):
    question = Question(1, "math", ("One?", "Two?"))
    said = session.tokenizer("yes", add_special_tokens=False)["input_ids"]
    messages = [{"role": "user", "content": "One?"}]
    assert prompt_of(session, question, []) == session.prompt_ids(messages)
    messages += [{"role": "assistant", "content": "yes"}, {"role": "user", "content": "Two?"}]
    assert prompt_of(session, question, [said]) == session.prompt_ids(messages)
    assert most_tokens(session, question, 100) > len(session.prompt_ids(messages)) + 150
