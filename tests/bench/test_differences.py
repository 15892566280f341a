from __future__ import annotations

import pytest

from medusa_chat.bench.differences import Parting, part
from medusa_chat.bench.table import describe
from medusa_chat.engine.options import Decoding, Limits, Sampling
from medusa_chat.host.partings import Difference
from medusa_chat.host.session import Session


def test_a_parting_names_texts_and_a_gap_and_leaves_the_session_usable(session: Session):
    prompt = session.prompt_ids([{"role": "user", "content": "hello"}])
    answer = list(session.start(prompt, Sampling(), Decoding("plain"), Limits(max_tokens=6)))
    tokens = [token for step in answer for token in step.tokens]
    other = [*tokens[:3], (tokens[3] + 1) % session.backbone.vocab_size, *tokens[4:]]
    parting = part(session, prompt, tokens, other)
    assert parting is not None
    assert (parting.index, parting.tokens) == (3, (tokens[3], other[3]))
    assert parting.texts == (session.tokenizer.decode([tokens[3]]), session.tokenizer.decode([other[3]]))
    # Greedy decoding took the likeliest, so its logit cannot be the smaller one.
    assert parting.logit_gap > 0
    again = session.start(prompt, Sampling(), Decoding("plain"), Limits(max_tokens=6))
    assert [token for step in again for token in step.tokens] == tokens


def test_a_token_against_itself_is_no_gap_and_a_near_tie(session: Session, monkeypatch: pytest.MonkeyPatch):
    prompt = session.prompt_ids([{"role": "user", "content": "hello"}])
    monkeypatch.setattr(
        "medusa_chat.bench.differences.first_difference", lambda left, right: Difference(0, (left[0], right[0]))
    )
    parting = part(session, prompt, [5], [5])
    assert (parting.logit_gap, parting.near_tie) == (0.0, True)


def test_an_answer_that_ends_early_has_no_gap(session: Session):
    parting = part(session, session.prompt_ids([{"role": "user", "content": "hello"}]), [1, 2], [1])
    assert (parting.tokens, parting.texts[1]) == ((2, None), "")
    assert (parting.logit_gap, parting.near_tie) == (None, False)


def test_people_read_where_and_how_close():
    near = Parting(4, (7, 9), (" the", "\x1b"), 2e-5, True)
    line = describe("plain", "medusa", near)
    assert line == (
        "they part at token 5, where plain says ' the' (7) and medusa says '\\x1b' (9); "
        "logit gap 2e-05, a near tie that rounding decides"
    )
    ended = Parting(4, (None, 9), ("", "x"), None, False)
    assert describe("plain", "hf", ended) == "they part at token 5, where plain has ended and hf says 'x' (9)"
