"""`medusa-chat bench` on a random model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from medusa_chat.bench import runner
from medusa_chat.engine.errors import MedusaError

QUESTIONS = [
    {"question_id": 81, "category": "writing", "turns": ["Write a line.", "Another."]},
    {"question_id": 82, "category": "writing", "turns": ["Write two lines."]},
    {"question_id": 111, "category": "math", "turns": ["What is 2 + 2?"]},
    {"question_id": 161, "category": "translation", "turns": ["Translate: Haus."]},
]


@pytest.fixture
def suite(tmp_path: Path) -> str:
    file = tmp_path / "suite.jsonl"
    file.write_text("\n".join(json.dumps(question) for question in QUESTIONS))
    return str(file)


def test_the_file_holds_figures_by_decoder_and_category(medusa, tiny_model, suite, tmp_path: Path):
    out = tmp_path / "figures.json"
    ended = medusa("bench", suite, "--model", tiny_model, "--max-tokens", "12", "--json", str(out))
    assert ended.code == 0
    report = json.loads(out.read_text())
    assert report["suite"] == suite
    assert {"cpu", "threads", "torch"} <= set(report["machine"])
    assert {"max_tokens": 12, "interrupted": False, "skipped": [], "precision": "float32"}.items() <= report[
        "settings"
    ].items()
    assert list(report["decoders"]) == ["plain", "medusa", "lookup"]
    for figures in report["decoders"].values():
        assert {"tokens_per_second", "acceleration_rate", "overhead", "speedup"} <= set(figures)
        assert (figures["identical"], figures["tokens"], figures["differences"]) == ([3, 3], 36, [])
        assert list(figures["categories"]) == ["writing", "math"]
        assert figures["categories"]["writing"]["identical"] == [2, 2]
    assert "3 questions, greedy" in ended.out
    assert "3 of 3 questions" in ended.err


def test_categories_limit_and_decoders(medusa, tiny_model, suite, tmp_path: Path):
    out = tmp_path / "figures.json"
    ended = medusa(
        *("bench", suite, "--model", tiny_model, "--max-tokens", "3", "--json", str(out)),
        *("--decoders", "medusa", "--categories", "translation,writing", "--limit", "2"),
    )
    assert ended.code == 0
    (figures,) = json.loads(out.read_text())["decoders"].values()
    assert {name: part["questions"] for name, part in figures["categories"].items()} == {"writing": 1, "translation": 1}
    assert figures["speedup"] is None


def test_questions_too_long_for_the_model_are_named_and_left_out(medusa, tiny_model, suite, tmp_path: Path):
    long = {"question_id": 99, "category": "math", "turns": ["word " * 5000]}
    Path(suite).write_text("\n".join(json.dumps(question) for question in [*QUESTIONS, long]))
    out = tmp_path / "figures.json"
    ended = medusa(
        *("bench", suite, "--model", tiny_model, "--max-tokens", "3", "--decoders", "plain", "--json", str(out))
    )
    assert ended.code == 0
    assert "question 99 is left out" in ended.err
    report = json.loads(out.read_text())
    assert (report["settings"]["skipped"], report["decoders"]["plain"]["questions"]) == ([99], 3)


@pytest.mark.parametrize(("problem", "code"), [(KeyboardInterrupt(), 130), (MedusaError("It broke; mend it."), 1)])
def test_what_is_done_is_kept_when_a_run_breaks_off(
    medusa, tiny_model, suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, problem: BaseException, code: int
):
    whole = runner.measure

    def broken(*arguments, **named):
        samples = whole(*arguments, **named)
        yield next(samples)
        yield next(samples)
        raise problem

    monkeypatch.setattr(runner, "measure", broken)
    out = tmp_path / "figures.json"
    ended = medusa("bench", suite, "--model", tiny_model, "--max-tokens", "3", "--json", str(out))
    assert ended.code == code
    assert "2 questions, greedy" in ended.out
    report = json.loads(out.read_text())
    assert (report["settings"]["interrupted"], report["decoders"]["medusa"]["questions"]) == (True, 2)


def test_a_file_that_cannot_be_written_is_said(medusa, tiny_model, suite, tmp_path: Path):
    ended = medusa(
        *("bench", suite, "--model", tiny_model, "--max-tokens", "2", "--decoders", "plain"),
        *("--json", str(tmp_path / "no" / "such" / "folder.json")),
    )
    assert ended.code == 1
    assert "The results cannot be written to" in ended.err
    assert "1.00" in ended.out


def test_a_suite_that_is_not_there_is_one_sentence(medusa, tiny_model, tmp_path: Path):
    ended = medusa("bench", str(tmp_path / "none.jsonl"), "--model", tiny_model)
    assert (ended.code, ended.out, ended.err.count("\n")) == (1, "", 1)


def test_the_peer_stands_beside_the_decoders(medusa, tiny_model, suite, tmp_path: Path):
    out = tmp_path / "figures.json"
    ended = medusa(
        *("bench", suite, "--model", tiny_model, "--max-tokens", "10", "--json", str(out)),
        *("--decoders", "plain", "--peer", "hf", "--limit", "2"),
    )
    assert ended.code == 0
    peer = json.loads(out.read_text())["decoders"]["hf"]
    assert (peer["identical"], peer["acceleration_rate"], peer["tokens"]) == ([2, 2], 1.0, 20)
    assert peer["speedup"] == pytest.approx(1 / peer["overhead"])
