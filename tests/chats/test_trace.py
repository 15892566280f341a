"""A step trace comes back as it was, in little room."""

from __future__ import annotations

import json
import random
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medusa_chat.chats.columns import Columns, pack
from medusa_chat.chats.trace import Believed, Rejected, TraceStep, from_columns, unpack
from medusa_chat.engine.errors import MedusaError


def rounded(value: float) -> float:
    return float(f"{value:.4g}")


numbers = st.floats(0, 1e6).map(rounded)
maybe = st.none() | numbers
tokens = st.tuples(st.integers(0, 2**40), st.text(max_size=5))


def beliefs(count: int) -> st.SearchStrategy[Believed]:
    def row(of: st.SearchStrategy) -> st.SearchStrategy[tuple]:
        return st.lists(of, min_size=count, max_size=count).map(tuple)

    chances = st.integers(0, 1000).map(lambda thousandths: thousandths / 1000)
    entropies = st.integers(0, 1200).map(lambda hundredths: hundredths / 100)
    return st.builds(Believed, row(chances), row(entropies), row(st.text(max_size=5)), row(chances))


@st.composite
def steps(draw) -> TraceStep:
    count = draw(st.integers(1, 8))
    rows = st.lists(numbers, min_size=count, max_size=count).map(tuple)
    return TraceStep(
        nodes=tuple(draw(st.lists(tokens, min_size=count, max_size=count))),
        parents=(-1, *(draw(st.integers(0, node - 1)) for node in range(1, count))),
        scores=draw(rows),
        sources=tuple(draw(st.lists(st.text(max_size=8), min_size=count, max_size=count))),
        path=tuple(draw(st.lists(st.integers(0, count - 1), max_size=4))),
        kept=tuple(draw(st.lists(st.integers(0, 2**40), max_size=5))),
        text=draw(st.text(max_size=20)),
        ms=tuple(draw(st.lists(numbers, min_size=5, max_size=5))),
        plain_ms=draw(maybe),
        rejected=tuple(
            draw(st.lists(st.builds(Rejected, st.integers(0, count - 1), numbers, maybe, maybe), max_size=3))
        ),
        beliefs=draw(st.none() | beliefs(count)),
    )


@given(st.lists(steps(), max_size=6))
def test_a_round_trip_is_exact(trace):
    assert unpack(pack(Columns(trace))) == trace


def test_scores_and_times_keep_four_digits():
    step = TraceStep(((1, "a"),), (-1,), (0.123456789,), ("root",), (0,), (1,), "a", (12.3456,) * 5, 0.000123456)
    (back,) = unpack(pack(Columns([step])))
    assert (back.scores, back.ms[0], back.plain_ms) == ((0.1235,), 12.35, 0.0001235)


@pytest.mark.parametrize("nodes", [6, 16, 64])
def test_a_thousand_tokens_take_less_than_200_kb(nodes):
    """Trees like those of four heads: the same few tokens follow many nodes, as guesses and as favourites. 2.6 tokens a
    step, or 4.4 where the tree is large. Most guesses are unlikely; otherwise the numbers are random."""
    chance = random.Random(1)
    each = 2.6 if nodes < 64 else 4.4

    def token() -> tuple[int, str]:
        id = int(49152 * chance.random() ** 6)
        return id, f" w{id}"

    def one() -> TraceStep:
        offers = [[(token(), chance.random()) for _ in range(10)] for _ in range(5)]
        after = [token()[1] for _ in range(30)]
        parents, depths = [-1], [0]
        while len(parents) < nodes:
            parent = chance.randrange(len(parents))
            if depths[parent] < 4:
                parents.append(parent)
                depths.append(depths[parent] + 1)
        chosen = [offers[depth][int(10 * chance.random() ** 3)] for depth in depths]
        return TraceStep(
            nodes=tuple(node for node, _ in chosen),
            parents=tuple(parents),
            scores=tuple(score for _, score in chosen),
            sources=("root", *(f"head {depth}" for depth in depths[1:])),
            path=(0, 1, 2),
            kept=(chosen[1][0][0], chosen[2][0][0], token()[0]),
            text=" some text",
            ms=tuple(chance.random() * 20 for _ in range(5)),
            rejected=tuple(Rejected(node, chance.random()) for node in range(3)),
            beliefs=Believed(
                probabilities=tuple(chance.random() ** 10 for _ in range(nodes)),
                entropies=tuple(6 * chance.random() ** 2 for _ in range(nodes)),
                favourites=tuple(chance.choice(after) for _ in range(nodes)),
                certainties=tuple(chance.random() for _ in range(nodes)),
            ),
        )

    assert len(pack(Columns(one() for _ in range(int(1000 / each))))) < 200_000


def test_a_trace_from_before_there_were_beliefs_is_read():
    old = columns()
    del old["beliefs"], old["favourites"]
    (step,) = from_columns(old)
    assert step.beliefs is None
    assert step.kept == (2, 3)


def columns(**changes) -> dict:
    step = TraceStep(((1, "a"), (2, "b")), (-1, 0), (1.0, 0.5), ("root", "head 1"), (0, 1), (2, 3), "b", (1.0,) * 5)
    return {**json.loads(json.dumps(Columns([step]).as_json())), **changes}


def test_the_columns_themselves_are_fine():
    assert len(from_columns(columns())) == 1


@pytest.mark.parametrize(
    "broken",
    [
        columns(parents=[[0, 0]]),
        columns(parents=[[-1, 1]]),
        columns(parents=[[-1, -1]]),
        columns(paths=[[0, 2]]),
        columns(nodes=[[0, 9]]),
        columns(nodes=[[0]]),
        columns(nodes=[[0, True]]),
        columns(texts=[5]),
        columns(texts=[]),
        columns(scores=[["x", 1]]),
        columns(scores=[[10**400, 1]]),
        columns(vocabulary=[[1], [2, "b"]]),
        columns(vocabulary=None),
        columns(rejected=[[[0, 1]]]),
        columns(plain_ms=["fast"]),
        columns(ms=[[1.0]]),
        columns(nodes=[[]], parents=[[]], scores=[[]], **{"from": [[]]}, paths=[[]]),
        columns(beliefs=None),
        columns(beliefs=[]),
        columns(beliefs=[[[1, 1], [0, 0], [0, 0]]]),
        columns(beliefs=[[[1, 1], [0, 0], [0, 0], [1, 1]]]),
        columns(beliefs=[[[1], [0], [0], [1]]], favourites=["a"]),
        columns(favourites=[1]),
        [],
        None,
    ],
)
def test_what_is_no_trace_is_refused(broken):
    with pytest.raises(ValueError, match=r"."):
        from_columns(broken)
    with pytest.raises(MedusaError, match="read on without it"):
        unpack(zlib.compress(json.dumps(broken).encode()))


@pytest.mark.parametrize("packed", [b"", b"junk", zlib.compress(b"\xff"), zlib.compress(b"[1")])
def test_damaged_bytes_are_one_sentence(packed):
    with pytest.raises(MedusaError, match="damaged"):
        unpack(packed)
