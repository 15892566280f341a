"""Curves of characters fit their place exactly, whatever the values."""

from __future__ import annotations

from array import array

from medusa_chat.tui.training.curve import blocks, bounds, dotted, sampled


def test_a_falling_line_goes_from_the_upper_left_to_the_lower_right():
    assert dotted([3.0, 2.0, 1.0, 0.0], 0.0, 3.0, 1) == ["⠑⢄"]


def test_a_jump_is_joined():
    lines = dotted([1.0, 0.0], 0.0, 1.0, 2)
    assert [len(line) for line in lines] == [1, 1]
    assert " " not in "".join(lines)


def test_what_is_out_of_bounds_runs_along_the_edge():
    assert dotted([9.0, 9.0], 0.0, 1.0, 1) == ["⠉"]
    assert dotted([-9.0, -9.0], 0.0, 1.0, 1) == ["⣀"]


def test_steps_are_divided_evenly():
    steps, values = array("q", [10, 20, 100]), array("d", [3.0, 2.0, 1.0])
    assert sampled(steps, values, 4) == [3.0, 1.75, 1.375, 1.0]
    assert sampled(array("q"), array("d"), 4) == []


def test_the_steep_beginning_does_not_flatten_the_rest():
    assert bounds([1_000.0, *[2.0, 1.0] * 60]) == (1.0, 2.0)
    assert bounds([5.0]) == (4.5, 5.5)


def test_blocks_rise_from_nothing_to_the_highest():
    assert blocks([0.0, 0.5, 1.0, 2.0], 1.0) == "▁▅██"
    assert blocks([0.0], 0.0) == "▁"
