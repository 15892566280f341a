"""The flags of the app itself: `medusa-chat` without a command."""

from __future__ import annotations

import pytest

from medusa_chat.tui import launch as launching


@pytest.fixture
def launched(monkeypatch):
    """What the app was opened with."""
    calls = []
    monkeypatch.setattr(launching, "launch", lambda **wanted: calls.append(wanted))
    return calls


@pytest.mark.parametrize(("flags", "wanted"), [((), None), (("--quantize", "int8"), "int8")])
def test_a_precision_is_handed_on(medusa, launched, flags, wanted):
    assert medusa(*flags).code == 0
    assert [call["quantize"] for call in launched] == [wanted]


def test_a_precision_there_is_none_of_is_told_with_those_there_are(medusa, launched):
    ended = medusa("--quantize", "int3")
    assert ended.code == 2
    assert "'int3' is none of auto, none, fp16, int8, int4, nf4" in ended.err
    assert not launched


@pytest.mark.parametrize("flag", ["--model", "--quantize", "--prompt", "--theme", "--preset"])
def test_before_a_command_they_are_wrong(medusa, launched, flag):
    ended = medusa(flag, "auto", "doctor")
    assert ended.code == 2
    assert f"{flag} before a command belongs to the chat alone; put it after 'doctor'" in ended.err
    assert not launched
