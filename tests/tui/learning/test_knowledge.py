"""What is known of a model's lessons is read from its folder, whatever lies there."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from doubles.lessons import BETTER, WORSE

from medusa_chat.engine.errors import MedusaError
from medusa_chat.settings.learning import Learning, prefer_learning
from medusa_chat.settings.preferences import preferences_file
from medusa_chat.tui.learning.knowledge import LESSONS, Learnt, Lesson, forget, survey
from medusa_chat.tui.settings.learning_rows import LEARNING_ROWS, SHARES, turned


def row(id: str):
    return next(each for each in LEARNING_ROWS if each.id == id)


def test_a_model_that_learned_nothing_yet(store):
    assert survey("tiny", 4) == Learnt("tiny", able=True)


def test_the_last_lesson_is_found(store):
    prefer_learning(Learning(enabled=True, share=0.25))
    (store / "learned").mkdir()
    (store / LESSONS).write_text("".join(json.dumps(each) + "\n" for each in (WORSE, BETTER)) + "{ half a li")
    found = survey("tiny", 4)
    assert (found.last, found.own, found.wish) == (Lesson(84, 2.2212, 2.3051, True), True, Learning(True, 0.25))
    assert found.ended == pytest.approx((store / LESSONS).stat().st_mtime)


@pytest.mark.parametrize("text", ["", "no json\n", "[]\n3\n", '{"answers": "many"}\n', "\xff"])
def test_a_broken_list_of_lessons_is_none(store, text):
    (store / LESSONS).write_bytes(text.encode("latin-1"))
    assert survey("tiny", 4).last is None


def test_why_a_model_cannot_learn_is_said(store):
    assert "no heads" in survey("tiny", 0).reason
    assert "add it with F11" in survey("unheard-of", 4).reason
    assert not survey("tiny", 0).able


def test_wrong_preferences_are_told(store):
    preferences_file().write_text("[learning]\nenabled = 3\n")
    with pytest.raises(MedusaError, match="enabled is 3"):
        survey("tiny", 4)


def test_what_was_learned_is_forgotten(store):
    forget("tiny")
    (store / "learned").mkdir()
    forget("tiny")
    assert not (store / "learned").exists()


def test_what_the_rows_say():
    learnt = Learnt("tiny", able=True)
    last = row("now")
    assert last.value(learnt) == "nothing yet"
    better, worse = Lesson(84, 2.2212, 2.3051, True), Lesson(84, 2.2212, 2.2, False)
    assert last.value(replace(learnt, last=better)) == "2.22 → 2.31"
    assert last.value(replace(learnt, last=worse)) == "not better"
    assert last.value(replace(learnt, running=True)) == "learning …"
    assert "thrown away" in last.told(replace(learnt, last=worse))
    assert better.told == (
        "Your heads learned from 84 answers: 2.31 accepted tokens per step instead of 2.22, used from the next answer on."
    )
    assert row("shipped").value(replace(learnt, own=True)) != row("shipped").value(learnt)


def test_values_step_and_come_round():
    assert turned("learn", Learning(), 1).enabled
    assert not turned("learn", Learning(enabled=True), -1).enabled
    assert turned("share", Learning(share=SHARES[-1]), 1).share == SHARES[0]
    assert turned("share", Learning(share=0.3), -1).share == 0.1
