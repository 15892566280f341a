"""The process that learns stands back, says what came of it, and ends when it is told to."""

from __future__ import annotations

import os
import sys
import time

import psutil
import pytest
from doubles.lessons import BETTER, fails, lasts, says

from medusa_chat.engine.errors import MedusaError
from medusa_chat.tui.learning.knowledge import Lesson
from medusa_chat.tui.learning.pupil import Outcome, Pupil, command, on_battery


def outcome(command: list[str]) -> Outcome | None:
    pupil = Pupil(command)
    pupil._reader.join(60)
    return pupil.outcome


def test_what_it_learned_is_read():
    assert outcome(says(BETTER)) == Outcome(Lesson(84, 2.2212, 2.3051, used=True))


def test_why_it_did_not_is_one_sentence():
    assert outcome(fails("There are 3 answers to learn from yet.")) == Outcome(
        problem="There are 3 answers to learn from yet."
    )


@pytest.mark.parametrize("row", [{"event": "learned"}, {"event": "forgot"}, [1], "words", None])
def test_words_that_are_no_lesson_are_none(row):
    assert outcome(says(row)) == Outcome(problem="The lesson ended with exit code 0.")


def test_it_ends_when_it_is_told_to():
    pupil = Pupil(lasts())
    process = psutil.Process(pupil._process.pid)
    assert pupil.outcome is None
    if sys.platform != "win32":
        assert process.nice() == max(19, os.nice(0))
    pupil.stop()
    assert pupil.outcome == Outcome()
    assert not process.is_running()


def test_one_that_ends_by_itself_may_be_told_to_end_too():
    pupil = Pupil(says(BETTER))
    for _ in range(6_000):
        if pupil.outcome is not None:
            break
        time.sleep(0.01)
    pupil.stop()
    assert pupil.outcome is not None
    assert pupil.outcome.lesson is not None


def test_a_process_that_cannot_be_started_is_told():
    with pytest.raises(MedusaError, match="no process could be started"):
        Pupil(["/nowhere/at/all"])


def test_the_command_names_model_and_share():
    assert command("tiny", 0.25)[1:] == ["-m", "medusa_chat", "learn", "--model", "tiny", "--share", "0.25", "--json"]


def test_a_machine_without_a_battery_is_on_none(monkeypatch):
    monkeypatch.setattr(psutil, "sensors_battery", lambda: None, raising=False)
    assert not on_battery()
    monkeypatch.delattr(psutil, "sensors_battery")
    assert not on_battery()
