"""Several answers over one set of weights: each is the one it would be alone, and the chat never notices."""

from __future__ import annotations

import copy
import gc
import weakref
from collections.abc import Sequence

import pytest
from doubles.tiny_families import FAMILIES
from doubles.tiny_sessions import tiny_session

from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.options import Decoding, Limits, Sampling
from medusa_chat.engine.step import Step
from medusa_chat.host.comparison import Comparison
from medusa_chat.host.session import FIRST_PROBE, Session

PATHS = (
    *(f"transformers {family}" for family in FAMILIES),
    *(f"{kind} {family}" for kind in ("lean", "native", "int8") for family in ("llama", "qwen3", "mistral")),
)
BITWISE = "native llama"
"""On this path rows have the same bits however many are computed together, so that trees are the same to the last score."""
EXACT = (
    Decoding("plain"),
    Decoding("joint"),
    Decoding("joint", budget=9),
    Decoding("medusa", budget=6),
    Decoding("lookup", budget=8),
    Decoding("recycle"),
)
FIXED = tuple(decoding for decoding in EXACT if decoding.budget is not None or decoding.decoder == "plain")
"""Their trees do not depend on the clock."""
WARM = Sampling(temperature=0.8, top_p=0.95, seed=17)
LIMITS = Limits(max_tokens=48)
TALK = [{"role": "user", "content": "one two three one two three"}]
LONGER = [*TALK, {"role": "assistant", "content": "four five"}, {"role": "user", "content": "and then one two three?"}]


def _compared(
    session: Session, lanes: Sequence[Decoding], sampling: Sampling | None = None, talk: list[dict[str, str]] = TALK
) -> list[list[Step]]:
    comparison = Comparison(session, session.prompt_ids(talk), lanes, sampling or Sampling(), LIMITS)
    steps: list[list[Step]] = [[] for _ in lanes]
    for lane, step in comparison:
        steps[lane].append(step)
    return steps


def _alone(session: Session, decoding: Decoding, sampling: Sampling, talk: list[dict[str, str]] = TALK) -> list[Step]:
    return list(session.start(session.prompt_ids(talk), sampling, decoding, LIMITS))


def _tokens(steps: Sequence[Step]) -> list[int]:
    return [token for step in steps for token in step.tokens]


def _trees(steps: Sequence[Step]) -> list[tuple[object, ...]]:
    return [(step.tree.token_ids, step.tree.parent_nodes, step.tree.probabilities, step.path) for step in steps]


@pytest.mark.parametrize("sampling", [Sampling(), WARM], ids=["greedy", "warm"])
@pytest.mark.parametrize("path", PATHS)
def test_every_lane_says_what_it_would_say_alone_and_all_exact_ones_the_same(path: str, sampling: Sampling) -> None:
    session = tiny_session(path)
    lanes = [*EXACT, Decoding("medusa", budget=7, rule="typical")]
    compared = _compared(session, lanes, sampling)
    for decoding, steps in zip(lanes, compared, strict=True):
        alone = _alone(tiny_session(path), decoding, sampling)
        assert _tokens(steps) == _tokens(alone)
        assert "".join(step.text for step in steps) == "".join(step.text for step in alone)
        assert len(_tokens(steps)) == LIMITS.max_tokens
    assert all(_tokens(steps) == _tokens(compared[0]) for steps in compared[: len(EXACT)])
    assert max(len(step.tokens) for steps in compared for step in steps) > 1


@pytest.mark.parametrize("path", ["transformers llama", "lean llama", "native llama"])
def test_the_chat_goes_on_as_if_nothing_had_been_compared(path: str) -> None:
    """Its cache, and all that was learned, is as it was: the next answer reads only what is new."""
    disturbed, quiet = tiny_session(path), tiny_session(path)
    for session in (disturbed, quiet):
        _alone(session, Decoding("joint", budget=9), Sampling())
    before = (list(disturbed.backbone.ids), disturbed.backbone.last_hidden, copy.deepcopy(disturbed.lookup._ids))
    known = copy.deepcopy(disturbed.recycling["joint"]._successors)
    _compared(disturbed, EXACT, talk=LONGER)
    assert (disturbed.backbone.ids, disturbed.backbone.last_hidden, disturbed.lookup._ids) == before
    assert disturbed.recycling["joint"]._successors == known
    assert set(disturbed.recycling) == {"joint"}
    assert not disturbed.live
    read: dict[str, list[int]] = {"disturbed": [], "quiet": []}
    answers = []
    for name, session in (("disturbed", disturbed), ("quiet", quiet)):
        ids = session.prompt_ids(LONGER)
        answer = session.start(
            ids, Sampling(), Decoding("joint", budget=9), LIMITS, lambda _, total, name=name: read[name].append(total)
        )
        answers.append(list(answer))
    assert read["disturbed"] == read["quiet"]
    assert sum(read["quiet"]) < len(quiet.prompt_ids(LONGER)) - 1
    assert _trees(answers[0]) == _trees(answers[1])


def test_what_a_chat_has_learned_helps_no_lane() -> None:
    seasoned, fresh = tiny_session(BITWISE), tiny_session(BITWISE)
    for decoding in FIXED:
        _alone(seasoned, decoding, Sampling())
    _alone(seasoned, Decoding("joint", budget=9), Sampling(), LONGER)
    for one, other in zip(_compared(seasoned, FIXED), _compared(fresh, FIXED), strict=True):
        assert _trees(one) == _trees(other)


def test_lanes_of_the_same_decoder_learn_apart() -> None:
    twins = _compared(tiny_session(BITWISE), [Decoding("joint", budget=9)] * 2)
    (alone,) = _compared(tiny_session(BITWISE), [Decoding("joint", budget=9)])
    assert _trees(twins[0]) == _trees(twins[1]) == _trees(alone)


def test_the_prompt_is_read_once_and_what_the_chat_holds_of_it_not_at_all() -> None:
    session = tiny_session()
    _alone(session, Decoding("plain"), Sampling())
    read: list[tuple[int, int]] = []
    ids = session.prompt_ids(LONGER)
    comparison = Comparison(session, ids, EXACT, Sampling(), LIMITS, lambda done, total: read.append((done, total)))
    next(iter(comparison))
    ((done, total),) = read
    assert 0 < done == total < len(ids) - 1
    assert comparison.prefill_seconds > 0
    assert comparison.prompt_tokens == len(ids)


def test_without_a_seed_all_lanes_draw_the_same_one() -> None:
    session = tiny_session()
    warm = Sampling(temperature=1.0)
    comparison = Comparison(session, session.prompt_ids(TALK), EXACT[:3], warm, LIMITS)
    assert comparison.sampling.seed is not None
    tokens: list[list[int]] = [[], [], []]
    for lane, step in comparison:
        tokens[lane] += step.tokens
    assert tokens[0] == tokens[1] == tokens[2]
    again = Comparison(session, session.prompt_ids(TALK), EXACT[:3], warm, LIMITS)
    assert again.sampling.seed != comparison.sampling.seed


def test_plain_steps_are_timed_beside_others_only_where_no_lane_is_plain() -> None:
    with_plain = _compared(tiny_session(), [Decoding("plain"), Decoding("medusa", budget=5)])
    assert {step.plain_ms for steps in with_plain for step in steps} == {None}
    for steps in _compared(tiny_session(), [Decoding("medusa", budget=5), Decoding("lookup", budget=5)]):
        assert all(step.plain_ms for step in steps if step.index > FIRST_PROBE)


@pytest.mark.parametrize("path", ["transformers llama", "lean llama", "native llama"])
def test_dropped_lanes_are_let_go_at_once(path: str) -> None:
    session = tiny_session(path)
    comparison = Comparison(session, session.prompt_ids(TALK), EXACT, Sampling(), LIMITS)
    turns = iter(comparison)
    for _ in range(20):
        next(turns)
    forwards = [weakref.ref(answer._session.backbone.forward) for answer in comparison._answers]
    assert len({id(forward()) for forward in forwards}) == len(EXACT)
    gc.disable()
    try:
        del comparison, turns
        assert not [forward for forward in forwards if forward() is not None]
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("lanes", "said"), [((Decoding("plain"), Decoding("medusa")), "no Medusa heads"), ((), "nothing to compare")]
)
def test_what_cannot_be_is_refused_before_anything_runs(lanes: Sequence[Decoding], said: str) -> None:
    session = tiny_session(heads=0)
    with pytest.raises(MedusaError, match=said):
        Comparison(session, session.prompt_ids(TALK), lanes, Sampling(), LIMITS)
    assert session.backbone.ids == []


def test_a_prompt_that_does_not_fit_is_refused() -> None:
    session = tiny_session(context=16)
    turns = iter(Comparison(session, session.prompt_ids(LONGER), EXACT, Sampling(), LIMITS))
    with pytest.raises(MedusaError, match="16"):
        next(turns)


def test_a_full_context_ends_every_lane_at_the_same_token() -> None:
    session = tiny_session(context=64)
    lanes = _compared(session, EXACT)
    assert {steps[-1].finish for steps in lanes} == {"length"}
    assert len({tuple(_tokens(steps)) for steps in lanes}) == 1
