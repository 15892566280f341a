"""The screen gets its turn soon while another thread computes."""

from __future__ import annotations

import sys

import pytest

from medusa_chat.tui.threads import SWITCH_SECONDS, give_way


@pytest.fixture
def interval():
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.005)
    yield sys.getswitchinterval()
    sys.setswitchinterval(before)


def test_a_thread_that_computes_gives_way_sooner_than_pythons_own(interval):
    give_way()
    assert sys.getswitchinterval() == pytest.approx(SWITCH_SECONDS)
    assert interval > SWITCH_SECONDS
