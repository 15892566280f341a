"""What a plain step takes is known from few timings, and neither a hiccup nor a busier machine spoils it."""

from __future__ import annotations

from itertools import count

import pytest
from doubles.tiny_sessions import tiny_session
from hypothesis import given
from hypothesis import strategies as st

from medusa_chat.engine import decode
from medusa_chat.engine.cost import CostCurve
from medusa_chat.engine.options import Decoding, Limits, Sampling
from medusa_chat.engine.statistics import Tally
from medusa_chat.host import session as sessions
from medusa_chat.host.plain_steps import COUNTED, ENOUGH, REMEMBERED, PlainSteps
from medusa_chat.host.session import FIRST_PROBE, Session

CURVE = CostCurve((1, 8, 64), (10.0, 12.0, 50.0))
DECODING = Decoding("medusa", budget=5)
STEP_MS = 8.0
"""Of every step by the scripted clock, drafting left out: four parts of 2 ms."""


def known(*shares: float, rows: int = 100) -> PlainSteps:
    """Plain steps of so many milliseconds beside steps of 8 nodes and 12 ms."""
    plain_steps = PlainSteps(CURVE)
    for plain_ms in shares:
        plain_steps.timed(plain_ms, 8, 12.0, rows)
    return plain_steps


def test_without_a_timing_nothing_is_known() -> None:
    assert PlainSteps(CURVE).beside(8, 12.0, 100) is None


@given(st.floats(0.01, 1e4), st.integers(1, 64), st.floats(0.01, 1e4), st.integers(1, 9000))
def test_one_timing_alone_is_taken_as_it_is_unless_it_took_longer_than_the_step(
    plain_ms: float, nodes: int, ms: float, rows: int
) -> None:
    plain_steps = PlainSteps(CURVE)
    plain_steps.timed(plain_ms, nodes, ms, rows)
    assert plain_steps.beside(nodes, ms, rows) == pytest.approx(min(plain_ms, ms))


def test_a_hiccup_is_outvoted() -> None:
    assert known(10.0, 10.2, 22.9).beside(8, 12.0, 100) == pytest.approx(10.2)


def test_a_plain_step_is_never_slower_than_the_step_it_is_a_part_of() -> None:
    assert known(22.9, 22.9, 22.9).beside(8, 12.0, 100) == 12.0


def test_a_machine_that_became_twice_as_slow_is_followed_at_once() -> None:
    assert known(10.0, 10.0, 10.0).beside(8, 24.0, 100) == pytest.approx(20.0)


def test_nodes_are_allowed_for_by_the_curve() -> None:
    assert known(10.0).beside(64, 50.0, 100) == pytest.approx(10.0)


def test_the_last_timings_count() -> None:
    assert known(*[10.0] * REMEMBERED, *[12.0] * COUNTED).beside(8, 12.0, 100) == pytest.approx(12.0)


@pytest.mark.parametrize(("rows", "plain_ms"), [(1, 10.0), (500, 10.0), (3000, 6.0), (9000, 6.0)])
def test_those_behind_a_context_of_about_this_length_count_alone_where_they_are_enough(
    rows: int, plain_ms: float
) -> None:
    plain_steps = known(*[10.0] * COUNTED)
    for _ in range(ENOUGH):
        plain_steps.timed(6.0, 8, 12.0, 5000)
    assert plain_steps.beside(8, 12.0, rows) == pytest.approx(plain_ms)


@pytest.mark.parametrize(("nodes", "plain_ms"), [(8, 10.0), (10, 10.0), (64, 5.0), (50, 5.0)])
def test_and_so_do_those_beside_about_as_many_nodes(nodes: int, plain_ms: float) -> None:
    """Though the curve promised 10 ms beside either."""
    plain_steps = known(*[10.0] * COUNTED)
    for _ in range(ENOUGH):
        plain_steps.timed(5.0, 64, 50.0, 100)
    assert plain_steps.beside(nodes, CURVE.pass_ms(nodes), 100) == pytest.approx(plain_ms)


def test_one_alone_at_this_length_is_outvoted_by_the_others() -> None:
    plain_steps = known(10.0, 10.0, rows=300)
    plain_steps.timed(4.0, 8, 12.0, 5000)
    assert plain_steps.beside(8, 12.0, 5000) == pytest.approx(10.0)


@pytest.fixture
def clocked(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A session's steps take `STEP_MS` each; its timed plain steps take what is in the list, in order."""
    ticks = count()
    monkeypatch.setattr(decode, "perf_counter", lambda: 0.002 * next(ticks))
    waiting: list[float] = []
    monkeypatch.setattr(sessions, "pass_ms", lambda _backbone, _tree: waiting.pop(0))
    return waiting


def tally(session: Session, tokens: int) -> Tally:
    """Of an answer, begun as if nothing were known of plain steps."""
    ids = session.prompt_ids([{"role": "user", "content": "Count."}])
    told = Tally()
    for step in session.start(ids, Sampling(), DECODING, Limits(max_tokens=tokens), probe=True):
        told.add(len(step.tokens), step.ms.total, step.plain_ms)
    return told


def test_one_slow_timing_in_a_short_answer_makes_it_look_no_faster(clocked: list[float]) -> None:
    session = tiny_session()
    for _ in range(3):
        session.plain_steps.timed(6.0, 5, STEP_MS, 64)
    clocked.append(22.9)
    told = tally(session, 12)
    assert not clocked, "it was timed"
    assert told.plain_ms == pytest.approx(6.0)
    assert told.overhead == pytest.approx((STEP_MS + 2.0) / 6.0)


def test_what_was_timed_in_one_answer_counts_in_the_next(clocked: list[float]) -> None:
    session = tiny_session()
    clocked += [6.0, 7.0, 7.0]
    assert tally(session, 12).plain_ms == pytest.approx(6.0)
    assert tally(session, 12).plain_ms == pytest.approx(6.5, abs=0.2)
    assert tally(session, 12).plain_ms == pytest.approx(7.0, abs=0.2)


def test_an_answer_that_ends_before_one_is_timed_is_measured_by_those_before(clocked: list[float]) -> None:
    session = tiny_session()
    assert tally(session, FIRST_PROBE - 1).plain_ms is None
    session.plain_steps.timed(6.0, 5, STEP_MS, 64)
    assert tally(session, FIRST_PROBE - 1).plain_ms == pytest.approx(6.0)
