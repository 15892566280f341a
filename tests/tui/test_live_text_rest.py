"""How long drawing rests between two pieces of an answer."""

from __future__ import annotations

import pytest

from medusa_chat.tui.chat import live_text
from medusa_chat.tui.chat.live_text import LONGEST_REST, SHARE, LiveText


@pytest.mark.parametrize(("took", "rests"), [(0.01, 0.01 * (1 / SHARE - 1)), (3.0, LONGEST_REST)])
def test_a_slow_piece_does_not_leave_the_text_standing(
    monkeypatch: pytest.MonkeyPatch, took: float, rests: float
) -> None:
    now = 100.0
    monkeypatch.setattr(live_text, "monotonic", lambda: now)
    text = LiveText()
    text._rest(began=now - took)
    now += rests - 0.001
    assert not text.write("more")
    now += 0.002
    assert text.write("")
