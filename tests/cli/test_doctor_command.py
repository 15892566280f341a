"""`medusa-chat doctor`: every part is a line, whatever is missing."""

from __future__ import annotations

import json

import pytest
from doubles.tiny_models import save_tiny_model

from medusa_chat.cli import checks
from medusa_chat.engine.errors import MedusaError


def by_name(ended) -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = {}
    for check in ended.events:
        assert check["event"] == "check"
        assert check["state"] in {"ok", "note", "problem"}
        found.setdefault(check["name"], []).append(check)
    return found


def test_a_sound_model_with_heads(medusa, tiny_model):
    ended = medusa("doctor", "--model", tiny_model, "--json")
    found = by_name(ended)
    assert ended.code == 0
    assert {"python", "torch", "transformers", "bitsandbytes", "textual", "processor", "threads", "memory"} <= set(
        found
    )
    assert {"graphics card", "4-bit", "plain step", "log"} <= set(found)
    assert found["model"][0]["state"] == "ok"
    assert found["heads"][0]["value"].startswith("3 in ")
    assert found["4-bit"][0]["state"] == "ok"
    assert [check["state"] for check in found["forward path"]] == ["ok"]
    assert found["forward path"][0]["value"].startswith(("lean, weights in ", "native, weights in "))


def test_why_a_model_runs_on_the_general_path_is_said(medusa, tmp_path):
    folder = tmp_path / "model"
    save_tiny_model(folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "hidden_act": "relu"}))
    found = by_name(medusa("doctor", "--model", folder, "--json"))
    path, why = found["forward path"]
    assert path["value"].startswith("transformers, weights in ")
    assert why["state"] == "note"
    assert "because its activation is relu" in why["value"]


def test_a_model_that_is_not_here_comes_with_advice(medusa, tmp_path):
    found = by_name(medusa("doctor", "--json"))
    assert found["model"][0]["state"] == "problem"
    assert "medusa-chat models pull" in found["model"][0]["advice"]
    assert "log" in found


def test_parts_that_fail_are_lines_and_the_others_go_on(medusa, monkeypatch: pytest.MonkeyPatch):
    def refuse():
        raise MedusaError("The card is gone; plug it in.")
        yield

    def break_down():
        raise OSError("no such thing")
        yield

    monkeypatch.setattr(checks, "graphics_card", refuse)
    monkeypatch.setattr(checks, "four_bit", break_down)
    ended = medusa("doctor", "--json", "--model", "no-such-model")
    found = by_name(ended)
    assert ended.code == 0
    assert found["graphics card"][0]["value"] == "The card is gone; plug it in."
    assert found["4-bit"][0]["value"] == "could not be checked: OSError: no such thing"
    assert found["model"][0]["state"] == "problem"
    assert found["log"][0]["state"] == "ok"


def test_people_see_marks_and_advice(medusa):
    ended = medusa("doctor", "--model", "no-such-model")
    assert ended.code == 0
    assert "✗ model" in ended.out
    assert "  python" in ended.out
