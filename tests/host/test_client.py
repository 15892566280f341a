"""The client and the processes it starts, with a fake model that needs no torch."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from contextlib import suppress

import psutil
import pytest
from doubles.fake_session import NOISE, REPLY
from doubles.screen_ends import FAKE_CHILD, ask, compare, steps_in

from medusa_chat.host.messages import (
    Cancel,
    Compared,
    Failed,
    Finished,
    LaneStepped,
    Load,
    Loaded,
    Progress,
    Shutdown,
    StepTaken,
)
from medusa_chat.settings import paths

posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX systems")


def text_of(events):
    return "".join(step.text for step in steps_in(events))


def test_a_question_is_answered(watch):
    engine = watch()
    engine.send(Load("tiny"), ask("hello", answer=3))
    assert engine.until(Loaded)[1].model == "tiny"
    events, finished = engine.until(Finished)
    assert (text_of(events), finished.answer, finished.reason) == (REPLY, 3, "eos")


@posix
def test_a_killed_engine_is_told_once_and_comes_back_with_its_model(watch):
    engine = watch()
    engine.send(Load("tiny"), ask("endless", answer=1))
    engine.until(StepTaken)
    killed = engine.client.pid
    os.kill(killed, signal.SIGKILL)
    _, failed = engine.until(Failed)
    assert (failed.kind, failed.answer) == ("died", 1)
    assert "SIGKILL" in failed.advice
    assert "budget" in failed.advice
    assert not psutil.pid_exists(killed)
    engine.send(Cancel(), ask("hello", answer=2))
    before, loaded = engine.until(Loaded)
    assert loaded.model == "tiny"
    events, finished = engine.until(Finished)
    assert (text_of(events), finished.answer) == (REPLY, 2)
    assert not [event for event in before + events if isinstance(event, Failed | Finished)]
    assert engine.client.pid not in (None, killed)


@posix
def test_an_engine_killed_while_it_compares_is_told_once_and_compares_again(watch):
    engine = watch()
    engine.send(Load("tiny"), compare("endless", "plain", "joint", answer=1))
    engine.until(LaneStepped)
    os.kill(engine.client.pid, signal.SIGKILL)
    _, failed = engine.until(Failed)
    assert (failed.kind, failed.answer) == ("died", 1)
    engine.send(compare("hello", "plain", "joint", answer=2))
    events, compared = engine.until(Compared)
    assert compared.answer == 2
    assert not [event for event in events if isinstance(event, Failed)]


@posix
def test_an_idle_engine_that_dies_is_told_once_without_an_answer(watch):
    engine = watch()
    engine.send(Load("tiny"), ask("hello"))
    engine.until(Finished)
    os.kill(engine.client.pid, signal.SIGTERM)
    _, failed = engine.until(Failed)
    assert (failed.kind, failed.answer) == ("died", None)
    assert "SIGTERM" in failed.advice
    engine.send(Load("other"))
    before, loaded = engine.until(Loaded)
    assert loaded.model == "other"
    assert [event.stage for event in before] == ["reading weights"]


@posix
def test_a_crash_names_the_signal_and_the_log_with_the_stack(watch):
    engine = watch()
    engine.send(Load("tiny"), ask("crash", answer=5))
    events, failed = engine.until(Failed)
    assert (failed.kind, failed.answer) == ("died", 5)
    assert "SIGSEGV" in failed.advice
    assert str(paths.log_file()) in failed.advice
    assert "_go_wrong" in paths.log_file().read_text()
    assert [step.index for step in steps_in(events)] in ([1], [1, 2])


@posix
def test_an_engine_killed_while_loading_says_so(watch):
    engine = watch()
    engine.send(Load("slow"))
    engine.until(Progress)
    os.kill(engine.client.pid, signal.SIGKILL)
    advice = engine.until(Failed)[1].advice
    assert "could not load the model" in advice
    assert "smaller model" in advice


def test_errors_inside_the_engine_leave_it_alive_and_the_traceback_in_the_log(watch):
    engine = watch()
    engine.send(Load("tiny"), ask("bug", answer=1))
    _, failed = engine.until(Failed)
    assert (failed.kind, failed.answer) == ("internal", 1)
    assert str(paths.log_file()) in failed.advice
    log = paths.log_file().read_text()
    assert "Traceback" in log
    assert "KeyError" in log
    pid = engine.client.pid
    engine.send(ask("hello", answer=2))
    assert engine.until(Finished)[1].answer == 2
    assert engine.client.pid == pid


def test_what_libraries_print_goes_to_the_log_and_disturbs_no_message(watch, capfd):
    engine = watch()
    engine.send(Load("noisy"), ask("noise"))
    events, finished = engine.until(Finished)
    assert text_of(events) == REPLY
    assert finished.reason == "eos"
    engine.client.close()
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "")
    assert paths.log_file().read_text().count(NOISE) == 10


def test_a_log_that_grew_long_is_put_aside(watch, home):
    log = paths.log_file()
    log.write_bytes(b"x" * 1_000_001)
    engine = watch()
    engine.send(Load("noisy"))
    engine.until(Loaded)
    assert log.stat().st_size < 1000
    assert [file.stat().st_size for file in log.parent.iterdir() if file != log] == [1_000_001]


def test_closing_does_not_wait_for_a_long_load_and_leaves_no_process(watch):
    engine = watch()
    engine.send(Load("slow"))
    engine.until(Progress)
    pid = engine.client.pid
    process = psutil.Process(pid)
    engine.client.close()
    assert not process.is_running()
    engine.client.close()
    assert engine.client.pid is None
    engine.send(ask("hello"))
    assert engine.client.pid is None


@posix
def test_a_child_that_does_not_listen_is_killed(watch):
    """A stopped process takes no goodbye."""
    engine = watch()
    engine.send(Load("tiny"))
    engine.until(Loaded)
    process = psutil.Process(engine.client.pid)
    os.kill(process.pid, signal.SIGSTOP)
    engine.client.close()
    assert not process.is_running()


def test_goodbye_as_a_request_closes(watch):
    engine = watch()
    engine.send(Load("tiny"), Shutdown())
    assert engine.client.pid is None


def test_a_program_that_cannot_be_started_is_told_for_the_answer(watch, tmp_path):
    engine = watch((str(tmp_path / "missing"),))
    assert engine.until(Failed)[1].answer is None
    engine.send(ask("hello", answer=9))
    _, failed = engine.until(Failed)
    assert (failed.kind, failed.answer) == ("died", 9)
    assert "missing" in failed.advice


def test_a_child_that_talks_nonsense_counts_as_dead(watch):
    engine = watch((sys.executable, "-c", "print('this is no message')"))
    assert engine.until(Failed)[1].kind == "died"


@posix
def test_an_interrupt_of_the_terminal_does_not_reach_the_engine(home):
    """ctrl-c goes to every process of the terminal's foreground group: the engine must not be one of them."""
    script = f"""
import os, signal
from medusa_chat.host.client import EngineClient
from medusa_chat.host.messages import Load, Loaded
engine = EngineClient({FAKE_CHILD!r})
engine.start(); engine.send(Load("tiny"))
events = []
while not any(isinstance(event, Loaded) for event in events): events += engine.drain()
assert os.getpgid(engine.pid) != os.getpgid(0)
signal.signal(signal.SIGINT, signal.SIG_IGN)
os.killpg(0, signal.SIGINT)
os.kill(engine.pid, signal.SIGINT)
engine.send(Load("again")); events.clear()
while not any(isinstance(event, Loaded) for event in events): events += engine.drain()
print([event.model for event in events if isinstance(event, Loaded)])
engine.close()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, start_new_session=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "['again']\n", "")


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waits for a stranger's process as only Linux lets one")
@pytest.mark.parametrize("death", ["os.kill(os.getpid(), 9)", "os._exit(1)", "sys.exit(0)"])
@pytest.mark.parametrize("model", ["tiny", "slow"])
def test_the_engine_leaves_when_the_screen_dies(home, death, model):
    script = f"""
import os, sys
from medusa_chat.host.client import EngineClient
from medusa_chat.host.messages import Load, Loaded, Progress
engine = EngineClient({FAKE_CHILD!r})
engine.start(); engine.send(Load({model!r}))
while not engine.drain(): pass
print(engine.pid, flush=True)
{death}
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stderr == ""
    _wait_for_end_of(int(done.stdout))


def _wait_for_end_of(pid):
    """Of a process that is no child of ours (and that nobody may collect, so its number may stay)."""
    with suppress(ProcessLookupError):
        descriptor = os.pidfd_open(pid)
        try:
            select.select([descriptor], [], [])
        finally:
            os.close(descriptor)


def test_the_screen_side_never_imports_torch(home):
    script = """
import sys
from medusa_chat.host import client, messages, protocol
engine = client.EngineClient()
engine.start()
engine.close()
print(sorted({name.split(".")[0] for name in sys.modules} & {"torch", "transformers", "numpy", "multiprocessing"}))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_child_imports_torch_only_when_something_is_to_be_loaded():
    script = "import sys; from medusa_chat.host import child; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
