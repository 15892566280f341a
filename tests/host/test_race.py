"""Whose turn it is, with lanes that are lists of times."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medusa_chat.host.race import fair_turns

TIMES = st.lists(st.floats(0.01, 100.0), max_size=40)


def _turns(lanes: list[list[float]]) -> list[tuple[int, float]]:
    return list(fair_turns(lanes, float))


@given(st.lists(TIMES, max_size=5))
def test_every_step_of_every_lane_is_taken_once_and_in_order(lanes: list[list[float]]) -> None:
    taken: list[list[float]] = [[] for _ in lanes]
    for lane, ms in _turns(lanes):
        taken[lane].append(ms)
    assert taken == lanes


@given(st.lists(TIMES, min_size=2, max_size=5))
def test_clocks_of_running_lanes_are_never_further_apart_than_one_step(lanes: list[list[float]]) -> None:
    clocks = [0.0] * len(lanes)
    left = [len(lane) for lane in lanes]
    for lane, ms in _turns(lanes):
        running = [other for other in range(len(lanes)) if left[other] or other == lane]
        assert clocks[lane] == min(clocks[other] for other in running)
        clocks[lane] += ms
        left[lane] -= 1
        for one in running:
            for other in running:
                longest = max([*lanes[one], *lanes[other]])
                assert abs(clocks[one] - clocks[other]) <= longest + 1e-9


def test_the_first_of_lanes_with_equal_clocks_comes_first() -> None:
    assert [lane for lane, _ in _turns([[2.0, 2.0], [1.0, 1.0, 1.0], [4.0]])] == [0, 1, 2, 1, 0, 1]


def test_a_lane_that_has_ended_holds_nobody_back() -> None:
    assert _turns([[5.0], [], [1.0] * 3]) == [(0, 5.0), (2, 1.0), (2, 1.0), (2, 1.0)]


def test_no_lane_steps_before_its_turn_is_asked_for() -> None:
    begun: list[str] = []

    def lane(name: str) -> Iterator[float]:
        for number in range(2):
            begun.append(f"{name}{number}")
            yield 1.0

    turns = fair_turns([lane("a"), lane("b")], float)
    assert begun == []
    for expected in (["a0"], ["a0", "b0"], ["a0", "b0", "a1"]):
        next(turns)
        assert begun == expected


def test_what_a_lane_raises_is_not_hidden() -> None:
    def broken() -> Iterator[float]:
        yield 1.0
        raise KeyError("broken")

    turns = fair_turns([broken(), [9.0]], float)
    assert [next(turns), next(turns)] == [(0, 1.0), (1, 9.0)]
    with pytest.raises(KeyError, match="broken"):
        next(turns)
