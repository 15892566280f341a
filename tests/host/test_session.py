"""A loaded model and its answers: plain steps timed in between change nothing but the figures."""

from __future__ import annotations

from pathlib import Path

import pytest
from doubles.tiny_models import save_tiny_model

from medusa_chat.engine.live_budget import LiveBudget
from medusa_chat.engine.options import Decoding, Limits, Sampling
from medusa_chat.engine.statistics import Tally
from medusa_chat.engine.step import Step
from medusa_chat.host.session import FIRST_PROBE, PROBE_EVERY, Session

PROMPT = [{"role": "user", "content": "Count as far as you can."}]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    folder: Path = tmp_path_factory.mktemp("model")
    return Session.open(str(save_tiny_model(folder, heads=3)))


def _steps(session: Session, decoding: Decoding, *, probe: bool) -> list[Step]:
    limits = Limits(max_tokens=3 * PROBE_EVERY)
    session.backbone.eos_ids = frozenset()
    return list(session.start(session.prompt_ids(PROMPT), Sampling(), decoding, limits, probe=probe))


def test_timing_plain_steps_in_between_changes_no_token(session: Session) -> None:
    decoding = Decoding("medusa", budget=5)
    probed = _steps(session, decoding, probe=True)
    ids = list(session.backbone.ids)
    quiet = _steps(session, decoding, probe=False)
    assert [step.tokens for step in probed] == [step.tokens for step in quiet]
    assert ids == session.backbone.ids
    assert session.backbone.length == len(ids)


def test_a_plain_step_is_timed_behind_the_third_step_and_now_and_then(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    timings: list[float] = []
    monkeypatch.setattr(session.plain_steps, "timed", lambda plain_ms, *_beside: timings.append(plain_ms))
    session.backbone.eos_ids = frozenset()
    ids, limits = session.prompt_ids(PROMPT), Limits(max_tokens=3 * PROBE_EVERY)
    drafted: list[int] = []
    timed: list[int] = []
    for step in session.start(ids, Sampling(), Decoding("medusa", budget=5), limits, probe=True):
        if len(step.tree) > 1 and step.finish is None:
            drafted.append(step.index)
        timed += [step.index] * (len(timings) - len(timed))
    assert len(drafted) > PROBE_EVERY
    assert timed == [index for index in drafted if index % PROBE_EVERY == FIRST_PROBE]


def test_steps_of_plain_decoding_are_their_own_measure(session: Session) -> None:
    steps = _steps(session, Decoding(decoder="plain"), probe=True)
    assert [step.plain_ms for step in steps] == [step.ms.total for step in steps]


def test_why_children_fell_is_told_to_whoever_asks(session: Session) -> None:
    def reasons(explain: bool) -> list[int]:
        ids = session.prompt_ids(PROMPT)
        answer = session.start(ids, Sampling(), Decoding("medusa", budget=9), Limits(max_tokens=8), explain=explain)
        return [len(step.reasons) for step in answer]

    assert any(reasons(explain=True))
    assert not any(reasons(explain=False))


def test_every_step_says_what_a_plain_one_would_have_taken_to_whoever_asks(session: Session) -> None:
    assert all(step.plain_ms for step in _steps(session, Decoding("medusa", budget=5), probe=True))
    assert all(step.plain_ms is None for step in _steps(session, Decoding("medusa", budget=5), probe=False))


def test_figures_follow_what_steps_say_of_plain_ones() -> None:
    tally = Tally(plain_ms=50.0)
    tally.add(2, 12.0)
    assert tally.overhead == pytest.approx(12.0 / 50.0)
    for plain_ms in (10.0, None, 11.0, 12.0):
        tally.add(2, 12.0, plain_ms)
    assert tally.plain_ms == pytest.approx(11.0)
    assert tally.speedup == pytest.approx(2 / (12.0 / 11.0))


def test_without_a_number_the_budget_follows_the_answer_and_the_text_stays(session: Session) -> None:
    plain = [token for step in _steps(session, Decoding(decoder="plain"), probe=False) for token in step.tokens]
    steps = _steps(session, Decoding(), probe=False)
    assert [token for step in steps for token in step.tokens] == plain
    assert isinstance(session.live_budget(Decoding().decoder), LiveBudget)


def test_what_was_learned_of_a_drafter_is_kept_for_the_next_answer(session: Session) -> None:
    _steps(session, Decoding(), probe=False)
    kept = session.live_budget(Decoding().decoder)
    _steps(session, Decoding(), probe=False)
    assert session.live_budget(Decoding().decoder) is kept
    assert session.live_budget("lookup") is not kept


CHANGES = [
    (Sampling(seed=5), Sampling(temperature=0.9, seed=5)),
    (Sampling(temperature=0.9, top_p=0.8, seed=5), Sampling(temperature=1.3, min_p=0.01, top_k=40, seed=99)),
    (Sampling(temperature=0.9, seed=5), Sampling(repetition_penalty=1.3)),
    (Sampling(temperature=1.5, seed=5), Sampling(temperature=1.0)),
]


@pytest.mark.parametrize(("before", "after"), CHANGES)
def test_sampling_may_change_while_an_answer_runs_as_in_plain_decoding(
    session: Session, before: Sampling, after: Sampling
) -> None:
    session.backbone.eos_ids = frozenset()
    ids, count = session.prompt_ids(PROMPT), 60

    def written(decoding: Decoding, change_from: int) -> tuple[list[int], int]:
        answer = session.start(ids, before, decoding, Limits(max_tokens=count))
        tokens: list[int] = []
        changed_at = 0
        for step in answer:
            tokens += step.tokens
            if not changed_at and len(tokens) >= change_from:
                answer.adjust(decoding, after)
                changed_at = len(tokens)
        return tokens, changed_at

    drafted, changed_at = written(Decoding("medusa", budget=12), change_from=20)
    assert written(Decoding("plain"), changed_at)[0] == drafted
    unchanged = written(Decoding("plain"), change_from=count)[0]
    assert drafted[:changed_at] == unchanged[:changed_at]
    assert drafted != unchanged


def test_sampling_that_is_not_named_stays(session: Session) -> None:
    ids = session.prompt_ids(PROMPT)
    sampling, limits = Sampling(temperature=1.2, seed=3), Limits(max_tokens=24)
    plain = [token for step in session.start(ids, sampling, Decoding("plain"), limits) for token in step.tokens]
    answer = session.start(ids, sampling, Decoding("plain"), limits)
    tokens: list[int] = []
    for step in answer:
        tokens += step.tokens
        answer.adjust(Decoding("medusa", budget=6))
    assert tokens == plain


def test_a_number_is_kept_to(session: Session) -> None:
    sizes = [len(step.tree) for step in _steps(session, Decoding(decoder="medusa", budget=5), probe=False)]
    assert max(sizes) == 5
