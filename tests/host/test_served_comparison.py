"""Partings as the screen gets them, from a real tiny model."""

from __future__ import annotations

import pytest
import torch
from doubles.tiny_sessions import tiny_session

from medusa_chat.engine.options import Decoding, Limits
from medusa_chat.engine.text.token_text import piece
from medusa_chat.engine.tree import CandidateTree
from medusa_chat.host.messages import ChatMessage, Compare, Lane, Parting
from medusa_chat.host.partings import Difference
from medusa_chat.host.served import RecordedSession

LANES = (Lane("joint", Decoding("joint", budget=8)), Lane("plain", Decoding("plain")))
ASK = Compare(1, (ChatMessage("user", "one two three one two"),), LANES, limits=Limits(max_tokens=20))


@pytest.mark.parametrize("path", ["transformers llama", "native llama"])
@pytest.mark.parametrize("index", [0, 7, 19])
def test_the_gap_is_that_of_plain_decoding_at_that_place(path: str, index: int) -> None:
    session = tiny_session(path)
    comparison = RecordedSession(session).compare(ASK, lambda _done, _total: None)
    said = [token for lane, step in comparison for token in step.tokens if lane == 0]
    other = (said[index] + 5) % session.backbone.vocab_size
    found = comparison.parting(said[:index], Difference(index, (said[index], other)))
    assert session.backbone.ids == []
    prompt = session.prompt_ids([{"role": "user", "content": ASK.messages[0].content}])
    ids = [*prompt, *said[:index]]
    session.backbone.prefill(ids[:-1])
    logits = session.backbone.verify(CandidateTree.root_only(ids[-1])).logits[0]
    assert found.gap == pytest.approx(float((logits[said[index]] - logits[other]).abs()), abs=1e-4)
    assert found.gap > 0
    assert found.texts == (piece(session.tokenizer, said[index]), piece(session.tokenizer, other))
    assert torch.argmax(logits) == said[index]


def test_where_one_has_ended_there_is_no_gap() -> None:
    session = tiny_session()
    comparison = RecordedSession(session).compare(ASK, lambda _done, _total: None)
    assert comparison.parting([1, 2], Difference(2, (None, 7))) == Parting(
        2, (None, 7), ("", piece(session.tokenizer, 7)), None
    )


def test_steps_of_lanes_carry_trees_but_nobody_pays_for_reasons() -> None:
    comparison = RecordedSession(tiny_session()).compare(ASK, lambda _done, _total: None)
    steps = [step for _, step in comparison]
    assert any(len(step.tree.tokens) > 1 for step in steps)
    assert not any(step.reasons or step.beliefs for step in steps)
