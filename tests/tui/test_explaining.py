"""What is said of a setting fits the rows there are: less telling words are left out, and what is cut has an ellipsis."""

from __future__ import annotations

import pytest
from doubles.scripted_engine import LOADED
from textual.geometry import Size

from medusa_chat.engine.options import Decoding
from medusa_chat.settings.presets import BUILT_IN
from medusa_chat.tui.choices import Choices
from medusa_chat.tui.settings.drawing import State, drawn
from medusa_chat.tui.settings.explaining import that_has_room, wordings
from medusa_chat.tui.settings.fields import FIELDS, field
from medusa_chat.tui.settings.learning_rows import LEARNING_ROWS
from medusa_chat.tui.settings.rows import SaveRow

LOSSLESS = State(Choices(), LOADED)
LOSSY = State(Choices(Decoding(decoder="plain", rule="typical")), LOADED)
SMALL, ROOMY = Size(36, 4), Size(50, 5)


def said(row, state: State, room: Size, problem: str = "") -> str:
    return that_has_room(wordings(row, state, problem), room).plain


@pytest.mark.parametrize("room", [Size(20, 2), SMALL, ROOMY], ids=str)
@pytest.mark.parametrize("state", [LOSSLESS, LOSSY], ids=["lossless", "lossy"])
def test_it_is_never_higher_than_its_rows_and_says_when_it_is_cut(room, state):
    for row in (*BUILT_IN, SaveRow(), *FIELDS, *LEARNING_ROWS):
        for problem in ("", "budget is 900, but a tree has 256 nodes at most; " * 4):
            choice = wordings(row, state, problem)
            shown = that_has_room(choice, room)
            assert len(shown.wrap(room.width)) <= room.height
            assert shown in choice or shown.plain.endswith("…")


def test_why_it_does_not_count_leaves_room_for_what_it_means():
    epsilon = field("decoding.epsilon")
    assert said(epsilon, LOSSLESS, ROOMY).endswith("for the typical rule: lower keeps more.")
    small = "( ) The lossless rule has no epsilon; F4 changes the rule.\nProbability that is always enough for the typical rule."
    assert said(epsilon, LOSSLESS, SMALL) == small


def test_that_a_rule_is_lossy_comes_before_its_default():
    rule = field("decoding.rule")
    assert said(rule, LOSSY, ROOMY).endswith("Default: lossless, 0 sets it.")
    assert said(rule, LOSSY, SMALL) == (
        "! lossy: the answers may differ from what the model alone would say. Which guesses are kept."
    )


@pytest.mark.parametrize("width", [35, 36, 37, 50])
def test_a_space_stands_between_a_name_and_its_value(width):
    for row in (*FIELDS, *LEARNING_ROWS):
        line = drawn(row, LOSSLESS, width, False).plain
        assert len(line) == width
        assert line.split("‹")[0].endswith(" ")


def test_no_room_says_nothing():
    assert said(field("decoding.rule"), LOSSY, Size(0, 0)) == ""
