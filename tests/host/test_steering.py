from __future__ import annotations

from collections import deque

import pytest

from medusa_chat.engine.options import Decoding, Sampling
from medusa_chat.host.messages import (
    Adjust,
    Cancel,
    ChatMessage,
    Generate,
    Load,
    Pause,
    Resume,
    Shutdown,
    StepOnce,
)
from medusa_chat.host.steering import Steering, StoppedReadingError, reading_progress

ONE, TWO = Adjust(Decoding(budget=1)), Adjust(Decoding(budget=2), Sampling(temperature=0.8))
ASK = Generate(1, (ChatMessage("user", "hello"),))


class NobodyAsksError(Exception):
    """A real inbox would wait here."""


class ListedInbox:
    def __init__(self, *requests):
        self.waiting = deque(requests)

    def look(self):
        return self.waiting.popleft() if self.waiting else None

    def wait(self):
        if not self.waiting:
            raise NobodyAsksError
        return self.waiting.popleft()

    def keep(self, request):
        self.waiting.appendleft(request)

    def holds(self, *kinds):
        return any(isinstance(request, kinds) for request in self.waiting)


class Steered:
    def __init__(self, *requests):
        self.inbox = ListedInbox(*requests)
        self.adjusted: list[Adjust] = []
        self.flushes = 0
        self.steering = Steering(self.inbox, self.adjusted.append, self._flush)

    def _flush(self):
        self.flushes += 1

    def next_step(self):
        return self.steering.next_step()


def test_without_requests_steps_follow_each_other():
    steered = Steered()
    assert [steered.next_step() for _ in range(3)] == [True] * 3
    assert steered.flushes == 0


def test_adjust_reaches_the_very_next_step_and_all_waiting_ones_are_followed():
    steered = Steered(ONE, TWO)
    assert steered.next_step()
    assert steered.adjusted == [ONE, TWO]


def test_paused_it_shows_all_and_waits_and_each_step_once_is_one_step():
    steered = Steered(Pause())
    with pytest.raises(NobodyAsksError):
        steered.next_step()
    assert steered.flushes == 1
    steered.inbox.waiting += [StepOnce(), ONE, StepOnce()]
    assert steered.next_step()
    assert steered.adjusted == []
    assert steered.next_step()
    assert steered.adjusted == [ONE]
    with pytest.raises(NobodyAsksError):
        steered.next_step()
    steered.inbox.waiting += [Resume()]
    assert [steered.next_step() for _ in range(3)] == [True] * 3


def test_step_once_means_nothing_while_running():
    steered = Steered(StepOnce(), Pause())
    with pytest.raises(NobodyAsksError):
        steered.next_step()


@pytest.mark.parametrize("before", [(), (Pause(),), (Pause(), StepOnce())])
def test_cancel_ends_the_answer_and_is_used_up(before):
    steered = Steered(*before, Cancel(), ASK)
    if StepOnce() in before:
        assert steered.next_step()
    assert not steered.next_step()
    assert list(steered.inbox.waiting) == [ASK]


@pytest.mark.parametrize("request_", [ASK, Load("other"), Shutdown()])
def test_what_needs_the_engine_for_something_else_ends_the_answer_and_comes_next(request_):
    steered = Steered(ONE, request_, Pause())
    assert not steered.next_step()
    assert list(steered.inbox.waiting) == [request_, Pause()]


def test_reading_a_prompt_is_shown_and_stops_when_the_answer_is_to_end():
    shown = []
    inbox = ListedInbox()
    on_progress = reading_progress(inbox, shown.append)
    on_progress(256, 1024)
    inbox.waiting += [ONE, Pause()]
    on_progress(512, 1024)
    inbox.waiting += [Cancel()]
    with pytest.raises(StoppedReadingError):
        on_progress(768, 1024)
    assert [progress.done for progress in shown] == [0.25, 0.5]
    assert list(inbox.waiting) == [ONE, Pause(), Cancel()]
