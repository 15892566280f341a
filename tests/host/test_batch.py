from __future__ import annotations

import itertools
import random

import pytest
from doubles.step_records import steps_of

from medusa_chat.host.batch import INTERVAL, Batch
from medusa_chat.host.messages import StepRecord

STEPS = steps_of("word " * 400)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("seed", range(20))
def test_every_step_is_sent_once_and_in_order_at_most_thirty_messages_a_second(seed):
    rng = random.Random(seed)
    clock = Clock()
    sent: list[tuple[float, tuple[StepRecord, ...]]] = []
    batch = Batch(lambda steps: sent.append((clock.now, steps)), clock=clock)
    for step in STEPS:
        clock.now += rng.choice((0.0, 0.001, 0.01, 0.05))
        batch.add(step)
    batch.flush()
    assert [step for _, steps in sent for step in steps] == list(STEPS)
    times = [time for time, _ in sent[:-1]]
    assert all(later - sooner >= INTERVAL for sooner, later in itertools.pairwise(times))


def test_steps_slower_than_a_frame_leave_at_once():
    clock = Clock()
    sent: list[tuple[StepRecord, ...]] = []
    batch = Batch(sent.append, clock=clock)
    for count, step in enumerate(STEPS[:10], start=1):
        batch.add(step)
        clock.now += INTERVAL
        assert len(sent) == count


def test_nothing_to_flush_sends_nothing():
    sent: list[tuple[StepRecord, ...]] = []
    batch = Batch(sent.append)
    batch.flush()
    batch.add(STEPS[0])
    batch.flush()
    batch.flush()
    assert len(sent) == 1
