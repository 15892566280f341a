from __future__ import annotations

import errno
import signal
from pathlib import Path

import pytest
from doubles.fake_session import PROBLEMS

from medusa_chat.engine.errors import MedusaError
from medusa_chat.host import failures

LOG = Path("/somewhere/medusa-chat.log")
ANSWERS = {"answer": 3, "loading": False, "log": LOG}
LOADS = {"answer": None, "loading": True, "log": LOG}


def test_a_refusal_is_passed_on_word_for_word():
    failed = failures.from_exception(MedusaError("Too long [b]; shorten it."), **ANSWERS)
    assert (failed.kind, failed.advice, failed.answer) == ("refused", "Too long [b]; shorten it.", 3)


@pytest.mark.parametrize(
    "error",
    [
        *(PROBLEMS[name]() for name in PROBLEMS if "memory" in name),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
    ],
)
def test_memory_in_all_its_forms_names_what_to_change(error):
    while_answering = failures.from_exception(error, **ANSWERS)
    while_loading = failures.from_exception(error, **LOADS)
    assert while_answering.kind == while_loading.kind == "memory"
    assert all(word in while_answering.advice for word in ("budget", "shorter", "4-bit"))
    assert all(word in while_loading.advice for word in ("smaller model", "4-bit"))


@pytest.mark.parametrize("error", [RuntimeError("size mismatch"), OSError(errno.EIO, "I/O error"), KeyError("secret")])
def test_faults_of_ours_name_their_kind_and_the_log_only(error):
    failed = failures.from_exception(error, **ANSWERS)
    assert failed.kind == "internal"
    assert type(error).__name__ in failed.advice
    assert str(LOG) in failed.advice
    assert "secret" not in failed.advice


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (-signal.SIGKILL, ("SIGKILL", "memory", "budget", "4-bit")),
        (-signal.SIGTERM, ("SIGTERM", "from outside", "restarts by itself")),
        (-signal.SIGSEGV, ("crashed", "SIGSEGV", str(LOG))),
        (-signal.SIGABRT, ("crashed", "SIGABRT", str(LOG))),
        (-99, ("crashed", "signal 99")),
        (1, ("exit code 1", str(LOG))),
        (0, ("exit code 0",)),
        (0xC0000005, ("exit code 0xc0000005",)),
    ],
)
def test_a_death_says_how_and_what_to_do(status, words):
    failed = failures.from_death(status, **ANSWERS)
    assert (failed.kind, failed.answer) == ("died", 3)
    assert [word for word in words if word not in failed.advice] == []
    assert "could not load" not in failed.advice
    assert "could not load" in failures.from_death(status, **LOADS).advice


def test_a_process_that_cannot_start_names_the_cause():
    failed = failures.from_failed_start(OSError(errno.ENOSPC, "No space left on device", str(LOG)), answer=None)
    assert failed.kind == "died"
    assert "No space left on device" in failed.advice
    assert str(LOG) in failed.advice
