"""distill, train and calibrate, one after the other, as a person gives a model heads."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import torch
from safetensors.torch import load_file

PROMPTS = [f"Say something about the number {number}." for number in range(24)]


@pytest.fixture
def answered(medusa: Any, headless_model: str, tmp_path: Path) -> Path:
    prompts, out = tmp_path / "prompts.jsonl", tmp_path / "answers.jsonl"
    prompts.write_text("".join(json.dumps({"prompt": prompt}) + "\n" for prompt in PROMPTS))
    ended = medusa(
        "distill", "--model", headless_model, "--prompts", str(prompts), "--out", str(out), "--max-tokens", "12",
        "--batch", "8", "--limit", "20",
    )  # fmt: skip
    assert (ended.code, ended.out) == (0, "")
    assert "20 of 20 conversations" in ended.err
    assert "answer tokens in 20 answers" in ended.err
    return out


def train(medusa: Any, model: str, data: Path, out: Path, *more: str) -> tuple[int, str, str]:
    ended = medusa(
        "train", "medusa1", "--model", model, "--data", str(data), "--out", str(out), "--heads", "2", "--epochs", "2",
        "--batch", "32", "--vocab", "64", "--held-out", "0.3", *more,
    )  # fmt: skip
    return ended.code, ended.out, ended.err


def test_from_prompts_to_calibrated_heads(medusa: Any, headless_model: str, answered: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    shutil.copytree(headless_model, model)
    code, out, _ = train(medusa, str(model), answered, tmp_path / "run")
    assert code == 0
    assert "held-out top-1 per head: 0." in out
    assert "held-out top-5 per head: 0." in out
    shutil.copytree(tmp_path / "run" / "heads", model / "heads")
    recipe = json.loads((model / "heads" / "config.json").read_text())["recipe"]
    assert (recipe["heads"], recipe["vocab"], len(recipe["held_out_top1"])) == (2, 64, 2)

    ended = medusa("calibrate", "--model", str(model), "--data", str(answered), "--held-out", "0.3", "--json")
    assert ended.code == 0
    (event,) = ended.events
    assert Path(event["file"]) == model / "heads" / "calibration.json"
    assert event["budget"] in {1, *map(int, event["expected"])}
    assert event["measured"]
    picture = ElementTree.parse(model / "heads" / "calibration.svg").getroot()
    assert {"tokens/step", "overhead", "speedup"} <= {
        text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")
    }
    told = medusa("calibrate", "--model", str(model), "--data", str(answered), "--held-out", "0.3", "--again", "2").out
    assert "<- budget" in told
    assert "decoded again with" in told

    answer = medusa("run", "hello", "--model", str(model), "--decoder", "medusa", "--max-tokens", "6", "--json")
    assert answer.events[-1]["decoder"] == "medusa"


def test_a_run_goes_on_only_when_told_to(medusa: Any, headless_model: str, answered: Path, tmp_path: Path) -> None:
    assert train(medusa, headless_model, answered, tmp_path / "run")[0] == 0
    code, _, err = train(medusa, headless_model, answered, tmp_path / "run")
    assert code == 1
    assert "go on with medusa-chat train --resume" in err
    ended = medusa("train", "--resume", str(tmp_path / "run"))
    assert (ended.code, "held-out top-1 per head" in ended.out) == (0, True)
    ended = medusa("train", "--resume", str(tmp_path / "other"))
    assert ended.code == 1
    assert "holds no training run" in ended.err


def test_joint_training_writes_adapter_heads_and_a_merged_model(
    medusa: Any, headless_model: str, answered: Path, tmp_path: Path
) -> None:
    assert train(medusa, headless_model, answered, tmp_path / "run")[0] == 0
    ended = medusa(
        "train", "medusa2", "--model", headless_model, "--data", str(answered), "--out", str(tmp_path / "joint"),
        "--heads-from", str(tmp_path / "run" / "heads"), "--epochs", "2", "--batch", "32", "--held-out", "0.3",
        "--rank", "4", "--merge",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    assert "drift of the model's words: KL 0." in ended.out
    assert (tmp_path / "joint" / "adapter" / "adapter_model.safetensors").exists()
    recipe = json.loads((tmp_path / "joint" / "heads" / "config.json").read_text())["recipe"]
    assert (recipe["method"], recipe["lora_rank"]) == ("medusa2", 4)
    answer = medusa("run", "hello", "--model", str(tmp_path / "joint" / "model"), "--decoder", "medusa", "--json")
    assert answer.events[-1]["decoder"] == "medusa"


def test_joint_training_needs_heads(medusa: Any, headless_model: str, answered: Path, tmp_path: Path) -> None:
    ended = medusa(
        "train", "medusa2", "--model", headless_model, "--data", str(answered), "--out", str(tmp_path / "joint")
    )
    assert ended.code == 1
    assert "has no heads to begin with" in ended.err


@pytest.mark.parametrize("method", ["medusa1", "medusa2"])
def test_two_processes_train_what_one_does(
    method: str, medusa: Any, headless_model: str, answered: Path, tmp_path: Path
) -> None:
    assert train(medusa, headless_model, answered, tmp_path / "first")[0] == 0
    common = [
        "train", method, "--model", headless_model, "--data", str(answered), "--epochs", "1", "--batch", "32",
        "--held-out", "0.3", "--dropout", "0", "--heads-from", str(tmp_path / "first" / "heads"),
    ]  # fmt: skip
    launch = ["-m", "accelerate.commands.launch", "--cpu", "--num_machines", "1", "--dynamo_backend", "no"]
    for count in (1, 2):
        ended = subprocess.run(
            [sys.executable, *launch, "--num_processes", str(count), "--mixed_precision", "no", "-m", "medusa_chat",
             *common, "--out", str(tmp_path / str(count))],
            capture_output=True, text=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr[-2_000:]
        assert ended.stdout.count("held-out top-1") == 1
    one, two = (load_file(tmp_path / str(count) / "heads" / "medusa_lm_head.safetensors") for count in (1, 2))
    before = load_file(tmp_path / "first" / "heads" / "medusa_lm_head.safetensors")
    moved = max(float((one[name].float() - before[name].float()).abs().max()) for name in one)
    assert moved > 1e-3
    for name, tensor in one.items():
        torch.testing.assert_close(two[name].float(), tensor.float(), atol=0.05 * moved, rtol=0.02)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("distill", "--prompts", "nowhere.jsonl", "--out", "x.jsonl"), "nowhere.jsonl cannot be read"),
        (("train", "medusa1", "--data", "nowhere.jsonl", "--out", "run"), "nowhere.jsonl cannot be read"),
        (("train", "medusa1", "--data", "x", "--out", "run", "--heads", "0"), "heads is 0"),
        (("calibrate", "--data", "nowhere.jsonl"), "has no heads yet"),
    ],
)
def test_what_is_missing_is_named_in_one_sentence(
    medusa: Any, headless_model: str, arguments: tuple[str, ...], said: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    ended = medusa(*arguments, "--model", headless_model)
    assert (ended.code, ended.out) == (1, "")
    assert said in ended.err
    assert "Traceback" not in ended.err


def test_calibration_needs_answers_that_were_held_out(medusa: Any, tiny_model: str, answered: Path) -> None:
    ended = medusa("calibrate", "--model", tiny_model, "--data", str(answered), "--held-out", "0.000001")
    assert ended.code == 1
    assert "None of these answers was held out" in ended.err
