"""A step that was kept is drawn as it was when it happened."""

from __future__ import annotations

from dataclasses import replace

import pytest
from doubles.step_records import steps_of

from medusa_chat.chats.columns import Columns, pack
from medusa_chat.chats.trace import unpack
from medusa_chat.host.messages import StepRecord
from medusa_chat.tui.keeping import record_of, trace_step

RECORDS = steps_of("The capital of France is Paris, a city on the river Seine.")


def kept(records: list[StepRecord]) -> list[StepRecord]:
    """Through the disk and back."""
    trace = unpack(pack(Columns(trace_step(record) for record in records)))
    return [record_of(step, index) for index, step in enumerate(trace, start=1)]


def test_kept_steps_come_back_as_they_were():
    records = [replace(record, plain_ms=7.5) for record in RECORDS]
    for back, record in zip(kept(records), records, strict=True):
        assert back == replace(record, finish=None)


def test_steps_nobody_explained_come_back_too():
    records = [replace(record, beliefs=None, reasons=()) for record in RECORDS]
    assert all(step.beliefs is None and step.reasons == () for step in kept(records))


def test_beliefs_come_back_near_enough_to_be_shown():
    held = RECORDS[0].beliefs
    assert held is not None
    third = replace(held, probabilities=tuple(chance / 3 for chance in held.probabilities))
    (back,) = kept([replace(RECORDS[0], beliefs=third)])
    assert back.beliefs is not None
    assert back.beliefs.probabilities == pytest.approx(third.probabilities, abs=1e-4)
