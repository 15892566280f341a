"""`medusa-chat bench profile`, `context`, `turns` and `drift` on a random model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from doubles.tiny_models import save_tiny_model

from medusa_chat.engine import loading
from medusa_chat.engine.errors import MedusaError


def report(medusa, out: Path, *arguments: str) -> tuple[dict, str]:
    ended = medusa("bench", *arguments, "--json", str(out))
    assert ended.code == 0, ended.err
    return json.loads(out.read_text()), ended.out


def test_profile_shows_parts_operators_and_python_for_each_size(medusa, tiny_model, tmp_path: Path):
    found, shown = report(
        medusa, tmp_path / "p.json", "profile", "--model", tiny_model, "--nodes", "4,1", "--tokens", "8"
    )
    assert list(found["profiles"]) == ["1", "4"]
    one = found["profiles"]["1"]
    assert (one["nodes"], one["steps"]) == (1.0, 7)
    assert one["operators"][0].keys() == {"name", "ms", "device_ms", "calls"}
    assert one["total_ms"] == pytest.approx(sum(one["step_ms"].values()))
    assert {"verify_outside_operators_ms", "python_ms"} <= set(one)
    assert {"machine", "settings"} <= set(found)
    assert "Budget 4: " in shown
    for word in ("verify", "aten::", "Python elsewhere", "ms a step"):
        assert word in shown
    assert "…" not in shown


def test_context_shows_every_length_the_model_holds(medusa, tiny_model, tmp_path: Path):
    found, shown = report(medusa, tmp_path / "c.json", "context", "--model", tiny_model, "--nodes", "1,2")
    assert [cost["rows"] for cost in found["contexts"]] == [100, 500, 1000, 2000, 4000]
    assert set(found["contexts"][0]["step_ms"]) == {"1", "2"}
    assert "1 node, ms" in shown
    assert "2 nodes, ms" in shown


def test_a_model_with_too_short_a_context_is_refused(medusa, tmp_path: Path):
    model = str(save_tiny_model(tmp_path / "short", context=64))
    ended = medusa("bench", "context", "--model", model)
    assert ended.code == 1
    assert "too few to measure behind 100" in ended.err


def test_turns_shows_first_tokens_and_their_growth(medusa, tiny_model, tmp_path: Path):
    found, shown = report(
        medusa,
        tmp_path / "t.json",
        *("turns", "--model", tiny_model, "--turns", "3", "--tokens", "4", "--repeats", "2", "--decoder", "plain"),
    )
    assert [turn["turn"] for turn in found["turns"]] == [1, 2, 3]
    second, third = (turn["first_token_seconds"] for turn in found["turns"][1:])
    assert found["growth"] == pytest.approx(third / second)
    assert f"turn 3 takes {found['growth']:.2f} times as long as that of turn 2" in shown


def recorded(folder: Path, rows: int = 4) -> str:
    file = folder / "answers.jsonl"
    row = json.dumps({"prompt_ids": [3, 50, 60], "answer_ids": [70, 80, 90, 100]})
    file.write_text("\n".join([row] * rows))
    return str(file)


def test_drift_holds_each_precision_against_the_full_weights(
    medusa, tiny_model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    load = loading.load_backbone

    def offered(folder, *, quantize="none", **more):
        if quantize == "nf4":
            raise MedusaError("This machine has no nf4; take another.")
        backbone, tokenizer = load(folder, quantize="none", **more)
        # int8 fell back, fp16 is there.
        backbone.precision = "none" if quantize == "int8" else quantize
        backbone.notes = ("int8 cannot be had, the weights stay as they are.",) if quantize == "int8" else ()
        return backbone, tokenizer

    monkeypatch.setattr(loading, "load_backbone", offered)
    monkeypatch.setattr(loading, "QUANTIZE", ("auto", "none", "fp16", "int8", "nf4"))
    out = tmp_path / "d.json"
    ended = medusa("bench", "drift", recorded(tmp_path), "--model", tiny_model, "--limit", "3", "--json", str(out))
    assert ended.code == 0
    found = json.loads(out.read_text())
    assert list(found["precisions"]) == ["fp16"]
    assert found["precisions"]["fp16"]["tokens"] == 12
    assert found["precisions"]["fp16"]["agreement"] == 1.0
    assert "100.00%" in ended.out
    assert "nf4 is left out: This machine has no nf4" in ended.err
    assert "int8 is left out: int8 cannot be had" in ended.err


def test_drift_needs_answers_of_this_model(medusa, tiny_model, tmp_path: Path):
    empty = tmp_path / "empty.jsonl"
    empty.write_text("\n")
    assert "holds no answers" in medusa("bench", "drift", str(empty), "--model", tiny_model).err
    empty.write_text('{"prompt_ids": [99999999], "answer_ids": [1]}')
    ended = medusa("bench", "drift", str(empty), "--model", tiny_model)
    assert (ended.code, ended.out) == (1, "")
    assert "made by another model" in ended.err
    ended = medusa("bench", "drift", str(tmp_path / "none.jsonl"), "--model", tiny_model)
    assert (ended.code, ended.err.count("\n")) == (1, 1)


@pytest.mark.parametrize("nodes", ["0", "x", "", "1,9999", "²"])
def test_sizes_that_are_none_are_wrong_usage(medusa, nodes: str):
    ended = medusa("bench", "profile", "--nodes", nodes)
    assert ended.code == 2
    assert "no number of nodes between 1 and" in ended.err


def test_the_help_of_bench_names_the_closer_measurements_and_each_has_its_own(medusa):
    shown = medusa("bench", "--help").out
    for name in ("profile", "context", "turns", "drift"):
        assert f"\n  {name} " in shown
        assert medusa("bench", name, "--help").out.startswith(f"Usage: medusa-chat bench {name} ")


def test_a_suite_may_have_the_name_of_a_measurement(medusa, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    ended = medusa("bench", "./profile")
    assert "The suite profile cannot be read" in ended.err


def test_a_traceback_is_shown_where_wanted(medusa, tmp_path: Path):
    ended = medusa("bench", "drift", str(tmp_path / "none.jsonl"), "--debug")
    assert "Traceback" in ended.err
