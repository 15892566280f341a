"""What a pass must read at least, and when that is known."""

from __future__ import annotations

import pytest
from doubles.llama_likes import WIDE, llama_like
from doubles.native_library import compiled
from doubles.tiny_families import tiny_model

from medusa_chat.bench import roofline as module
from medusa_chat.bench.roofline import roofline
from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.forward.dissect import dissect
from medusa_chat.engine.forward.native import NativeForward


def test_the_least_time_is_bytes_over_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "read_speed", lambda: 2e9)
    model = llama_like("llama", **WIDE)
    forward = NativeForward(compiled(), dissect(model), "int8")
    found = roofline(Backbone(model, forward))
    assert found is not None
    assert found.ms == pytest.approx(1000 * forward.weight_bytes / 2e9)


def test_paths_that_do_not_tell_have_none() -> None:
    assert roofline(Backbone(tiny_model("llama"))) is None


def test_reading_takes_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BYTES", 1 << 20)
    assert 0 < module.read_speed() < float("inf")
