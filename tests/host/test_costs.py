"""A measured curve is found again by the machine, model and precision it belongs to, and by no other."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from doubles.tiny_families import tiny_model

from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.cost import CostCurve
from medusa_chat.heads.medusa import MedusaHeads
from medusa_chat.host import costs
from medusa_chat.host.costs import curve_for, key_of

pytestmark = pytest.mark.usefixtures("home")

CURVE = CostCurve((1, 2, 8), (10.0, 11.5, 14.0), draft_ms=1.5)


@pytest.fixture
def backbone() -> Backbone:
    return Backbone(tiny_model("llama"))


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[Backbone]:
    """The backbones that were measured; each time the curve comes out the same."""
    found: list[Backbone] = []

    def measure(backbone: Backbone, *_args: object, **_more: object) -> CostCurve:
        found.append(backbone)
        return CURVE

    monkeypatch.setattr(costs, "measure", measure)
    return found


def the_file(home: Path) -> Path:
    (file,) = (home / "cache" / "costs").iterdir()
    return file


def test_what_was_measured_is_found_again(home: Path, backbone: Backbone, measured: list[Backbone]) -> None:
    assert curve_for(backbone, 10.0) == CURVE
    assert curve_for(backbone, 25.0) == CURVE, "a busy moment is no reason to measure"
    assert len(measured) == 1
    assert json.loads(the_file(home).read_text())["key"] == key_of(backbone)


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "{}", '{"key": 1}', None, "\0"],
    ids=["empty", "cut", "list", "nothing", "other key", "curve", "bytes"],
)
def test_a_broken_file_is_measured_anew(
    home: Path, backbone: Backbone, measured: list[Backbone], content: str | None
) -> None:
    curve_for(backbone, 10.0)
    falling = {"key": key_of(backbone), "nodes": [1, 2], "ms": [2.0, 1.0], "draft_ms": 0.0}
    the_file(home).write_text(json.dumps(falling) if content is None else content)
    assert curve_for(backbone, 10.0) == CURVE
    assert len(measured) == 2
    assert curve_for(backbone, 10.0) == CURVE
    assert len(measured) == 2, "the broken file was replaced"


def test_a_folder_that_cannot_be_written_is_no_error(home: Path, backbone: Backbone, measured: list[Backbone]) -> None:
    home.mkdir()
    (home / "cache").write_text("in the way")
    assert curve_for(backbone, 10.0) == curve_for(backbone, 10.0) == CURVE
    assert len(measured) == 2


def test_a_file_that_cannot_be_written_is_no_error(
    backbone: Backbone, measured: list[Backbone], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_args: object, **_more: object) -> int:
        raise OSError("no space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    assert curve_for(backbone, 10.0) == CURVE


@pytest.mark.parametrize(
    "change",
    [
        lambda patch: patch.setattr(costs, "cpu_model", lambda: "another processor"),
        lambda patch: patch.setattr(torch, "get_num_threads", lambda: 77),
        lambda patch: patch.setattr(torch, "__version__", "0.1"),
        lambda patch: patch.setattr(Backbone, "fingerprint", lambda _self: "other weights"),
        lambda patch: patch.setattr(Backbone, "forward_name", "another"),
    ],
    ids=["processor", "threads", "torch", "weights", "forward path"],
)
def test_another_machine_or_model_is_measured_by_itself(
    backbone: Backbone,
    measured: list[Backbone],
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[pytest.MonkeyPatch], None],
) -> None:
    curve_for(backbone, 10.0)
    with monkeypatch.context() as patch:
        change(patch)
        curve_for(backbone, 10.0)
        assert len(measured) == 2
    curve_for(backbone, 10.0)
    assert len(measured) == 2, "both are kept"


def test_another_precision_is_measured_by_itself(backbone: Backbone, measured: list[Backbone]) -> None:
    curve_for(backbone, 10.0)
    curve_for(Backbone(tiny_model("llama"), precision="int8"), 10.0)
    assert len(measured) == 2


def test_measured_anew_when_asked_or_when_the_kept_one_was_taken_in_a_bad_moment(
    backbone: Backbone, measured: list[Backbone]
) -> None:
    curve_for(backbone, 10.0)
    curve_for(backbone, 10.0, anew=True)
    assert len(measured) == 2
    curve_for(backbone, 5.0)
    assert len(measured) == 3


def test_a_real_measurement_survives_the_file(backbone: Backbone) -> None:
    first = curve_for(backbone, 0.001, MedusaHeads.fresh(backbone.output_layer.weight, 2), anew=True)
    assert curve_for(backbone, 1e9, MedusaHeads.fresh(backbone.output_layer.weight, 2)) == first
