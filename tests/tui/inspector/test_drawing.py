"""The drawn tree: every node once, where its parent leads, as wide as it says, whatever the tokens look like."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import pytest
from doubles.believed_steps import random_step
from doubles.step_records import steps_of
from rich.cells import cell_len

from medusa_chat.tui.inspector.drawing import draw
from medusa_chat.tui.inspector.fate import Fate, fates
from medusa_chat.tui.inspector.label import chance
from medusa_chat.tui.inspector.shape import shape_of

TREES = [(seed, random.Random(seed).randint(1, 64)) for seed in range(60)]


def cells(line: str, start: int, width: int) -> str:
    """What stands in these cells of a line."""
    found, at = "", 0
    for character in line:
        if start <= at < start + width:
            found += character
        at += cell_len(character)
    return found


@pytest.mark.parametrize("width", [30, 80, 200])
@pytest.mark.parametrize(("seed", "nodes"), TREES)
def test_every_node_stands_right_of_its_parent_and_never_above_it(seed, nodes, width):
    step = random_step(seed, nodes)
    drawing = draw(step, width, " next")
    assert len(drawing.boxes) == nodes + 1
    for node, parent in enumerate((*step.tree.parents, step.path[-1])):
        box = drawing.boxes[node]
        if parent >= 0:
            above = drawing.boxes[parent]
            assert box.x >= above.right
            assert box.y >= above.y
    taken = sorted((box.y, box.x, box.right) for box in drawing.boxes)
    for (row, _, end), (other, start, _) in pairwise(taken):
        assert row != other or start >= end


@pytest.mark.parametrize("width", [30, 80, 200])
@pytest.mark.parametrize(("seed", "nodes"), TREES)
def test_lines_are_as_wide_as_the_boxes_say(seed, nodes, width):
    step = random_step(seed, nodes)
    drawing = draw(step, width, " next")
    assert len(drawing.lines) == drawing.shape.height
    rows = [max(box.right for box in drawing.boxes if box.y == row) for row in range(len(drawing.lines))]
    assert [cell_len(str(line)) for line in drawing.lines] == rows
    assert drawing.width == max(rows)


@pytest.mark.parametrize(("seed", "nodes"), TREES[:20])
def test_the_accepted_path_is_one_straight_line_and_the_only_one_with_its_sign(seed, nodes):
    step = random_step(seed, nodes)
    drawing = draw(step, 200, " next")
    assert {drawing.boxes[node].y for node in (*step.path, nodes)} == {0}
    assert str(drawing.lines[0]).count("✓") == len(step.path) - 1
    assert not any("✓" in str(line) for line in drawing.lines[1:])


def test_a_label_says_who_proposed_it_and_how_likely_it_seemed_to_both():
    step = steps_of("The capital of France is Paris.")[0]
    drawing = draw(step, 200, "x")
    for node in range(1, len(step.tree.tokens)):
        box = drawing.boxes[node]
        label = cells(str(drawing.lines[box.y]), box.x, box.width)
        assert label[1] == step.tree.sources[node].removeprefix("head ")
        assert step.tree.texts[node].replace(" ", "·") in label
        numbers = label.split()[-2:]
        assert numbers == [chance(step.tree.scores[node]), chance(step.beliefs.probabilities[node])]


def test_a_bound_is_named_where_there_is_room():
    step = random_step(3, 8)
    fallen = [reason.node for reason in step.reasons]
    wide, narrow = draw(step, 400), draw(step, 30)
    assert sum(str(line).count("<.06") for line in wide.lines) == len(fallen) > 0
    assert not any("<.06" in str(line) for line in narrow.lines)


def test_without_beliefs_dashes_stand_for_the_backbone():
    step = replace(steps_of("The capital of France is Paris.")[0], beliefs=None)
    lines = [str(line) for line in draw(step, 200, "x").lines]
    assert sum(line.count("–") for line in lines) == len(step.tree.tokens) - 1


def test_other_settings_mark_what_they_gain_and_lose():
    step = next(step for step in steps_of("The capital of France is Paris, on the Seine.") if step.path == (0, 1, 3, 5))
    lines = [str(line) for line in draw(step, 300, other=(0, 2)).lines]
    text = "\n".join(lines)
    assert [text.count(sign) for sign in ("+1", "-1", "-2", "-3")] == [1, 1, 1, 1]
    assert "✓" not in text
    assert str(draw(step, 300, other=(0, 1)).lines[0]).count("✓") == 1


def test_the_shape_keeps_siblings_together_and_the_likelier_ones_first():
    shape = shape_of([-1, 0, 0, 0, 2], [1.0, 0.1, 0.2, 0.7, 0.5], [0, 2])
    assert shape.children[0] == (2, 3, 1)
    assert shape.rows == (0, 2, 0, 1, 0)
    assert shape.columns == (0, 1, 1, 1, 2)


def test_the_cursor_walks_within_its_column_and_over_its_end():
    shape = shape_of([-1, 0, 0, 2, 2, 1], [1.0, 0.2, 0.7, 0.5, 0.4, 0.3], [0, 2, 3])
    assert shape.neighbour(2, 1, 6) == 1
    assert shape.neighbour(1, -1, 6) == 2
    assert shape.neighbour(3, 1, 6) == 4
    assert shape.neighbour(4, 1, 6) == 5
    assert shape.neighbour(0, 1, 6) == 4
    assert shape.neighbour(0, -1, 6) == 0
    assert shape.neighbour(5, 1, 6) == 5


def test_fates_follow_from_path_and_reasons():
    step = steps_of("The capital of France is Paris.")[0]
    found = fates(step)
    assert found[0] is Fate.ROOT
    for node in range(1, len(found)):
        parent = step.tree.parents[node]
        if node in step.path:
            assert found[node] is Fate.KEPT
        else:
            assert found[node] is (Fate.FELL if parent in step.path else Fate.UNSEEN)


def test_what_a_lossy_rule_could_have_kept_held():
    step = next(step for step in map(random_step, range(99), [12] * 99) if len(step.reasons) > 1)
    first, *others = step.reasons
    assert fates(replace(step, reasons=tuple(others)))[first.node] is Fate.HELD
    assert fates(replace(step, reasons=()))[first.node] is Fate.FELL
