"""`medusa-chat bench` on a random model."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from medusa_chat.bench import runner
from medusa_chat.cli import bench_run
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
    ended = medusa(
        "bench", suite, "--model", tiny_model, "--quantize", "none", "--max-tokens", "12", "--json", str(out)
    )
    assert ended.code == 0
    report = json.loads(out.read_text())
    assert report["suite"] == suite
    assert {"cpu", "threads", "torch"} <= set(report["machine"])
    assert {"max_tokens": 12, "interrupted": False, "skipped": [], "precision": "float32"}.items() <= report[
        "settings"
    ].items()
    assert list(report["decoders"]) == ["plain", "medusa", "lookup", "joint"]
    for figures in report["decoders"].values():
        assert {"tokens_per_second", "acceleration_rate", "overhead", "speedup"} <= set(figures)
        assert (figures["identical"], figures["tokens"], figures["differences"]) == ([3, 3], 36, [])
        assert list(figures["categories"]) == ["writing", "math"]
        assert figures["categories"]["writing"]["identical"] == [2, 2]
    assert "3 questions, greedy" in ended.out
    assert "3 of 3 questions" in ended.err


def test_a_model_without_heads_is_measured_without_them_unless_they_are_asked_for(
    medusa, headless_model, suite, tmp_path: Path
):
    out = tmp_path / "figures.json"
    command = ("bench", suite, "--model", headless_model, "--max-tokens", "4", "--limit", "1", "--json", str(out))
    assert medusa(*command).code == 0
    report = json.loads(out.read_text())
    assert list(report["decoders"]) == list(report["settings"]["decoding"]) == ["plain", "lookup", "joint"]
    ended = medusa(*command, "--decoders", "plain,medusa")
    assert ended.code == 1
    assert "has no Medusa heads here" in ended.err


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

    monkeypatch.setattr(bench_run, "measure", broken)
    out = tmp_path / "figures.json"
    ended = medusa("bench", suite, "--model", tiny_model, "--max-tokens", "3", "--json", str(out))
    assert ended.code == code
    assert "2 questions, greedy" in ended.out
    report = json.loads(out.read_text())
    assert (report["settings"]["interrupted"], report["decoders"]["medusa"]["questions"]) == (True, 2)


def bench_json(medusa, suite: str, tiny_model: str, out: Path, *more: str) -> dict:
    ended = medusa(
        *("bench", suite, "--model", tiny_model, "--max-tokens", "6", "--decoders", "plain,medusa"),
        *("--json", str(out), *more),
    )
    assert ended.code == 0, ended.err
    return json.loads(out.read_text())


def test_figures_stand_by_family_too_and_tell_latency_split_and_memory(medusa, tiny_model, suite, tmp_path: Path):
    report = bench_json(medusa, suite, tiny_model, tmp_path / "figures.json", "--select", "all")
    medusa_figures = report["decoders"]["medusa"]
    assert {name: part["questions"] for name, part in medusa_figures["families"].items()} == {
        "mt_bench": 3,
        "translation": 1,
    }
    assert set(medusa_figures["step_ms"]) >= {"draft", "verify", "accept", "commit", "rest"}
    for spread in ("latency_p50", "latency_p95", "first_token_p50", "tokens_per_second_median", "speedup_median"):
        low, high = medusa_figures[spread]["interval"]
        assert low <= medusa_figures[spread]["value"] <= high
    assert medusa_figures["nodes_per_step"] >= 1
    assert medusa_figures["peak_bytes"] > 50 * 2**20
    assert report["settings"]["forward"]


def test_all_turns_are_asked_where_wanted(medusa, tiny_model, suite, tmp_path: Path):
    report = bench_json(medusa, suite, tiny_model, tmp_path / "figures.json", "--multi-turn")
    plain = report["decoders"]["plain"]
    assert (plain["questions"], plain["answers"], plain["tokens"]) == (3, 4, 24)
    assert report["decoders"]["medusa"]["identical"] == [4, 4]


def test_a_list_of_questions_the_suite_lacks_is_refused_before_anything_is_loaded(medusa, suite):
    ended = medusa("bench", suite, "--model", "no such model", "--select", "60")
    assert (ended.code, ended.err.count("\n")) == (1, 1)
    assert "lacks 58 of them" in ended.err


def test_the_speedups_are_drawn(medusa, tiny_model, suite, tmp_path: Path):
    picture = tmp_path / "speedups.svg"
    bench_json(medusa, suite, tiny_model, tmp_path / "figures.json", "--svg", str(picture))
    texts = ["".join(text.itertext()) for text in ElementTree.parse(picture).iter("{http://www.w3.org/2000/svg}text")]
    assert {"medusa", "writing", "math", "all"} <= set(texts)
    assert any("3 questions, greedy, at most 6 tokens an answer" in text for text in texts)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--select", "60", "--categories", "math"], "both choose questions"),
        (["--resume"], "name it with --json"),
        (["--svg", "x.svg", "--decoders", "medusa"], "add plain to --decoders"),
        (["--select", "61"], "'61' is not one of"),
        (["--peer", "nobody"], "'nobody' is not one of"),
    ],
)
def test_flags_that_do_not_go_together_are_wrong_usage(medusa, suite, flags: list[str], said: str):
    ended = medusa("bench", suite, *flags)
    assert ended.code == 2
    assert said in ended.err


def test_a_run_goes_on_where_it_broke_off(medusa, tiny_model, suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    whole, asked = runner.measure, []

    def broken(*arguments, **named):
        yield next(whole(*arguments, **named))
        raise KeyboardInterrupt

    def watched(contestants, questions, *rest):
        asked.extend(question.id for question in questions)
        return whole(contestants, questions, *rest)

    out = tmp_path / "figures.json"
    command = ("bench", suite, "--model", tiny_model, "--max-tokens", "6", "--decoders", "plain", "--json", str(out))
    monkeypatch.setattr(bench_run, "measure", broken)
    assert medusa(*command).code == 130
    first = json.loads(out.read_text())["decoders"]["plain"]
    monkeypatch.setattr(bench_run, "measure", watched)
    ended = medusa(*command, "--resume")
    assert ended.code == 0
    report = json.loads(out.read_text())
    assert asked == [82, 111]
    assert (report["settings"]["resumed"], report["settings"]["interrupted"]) == (1, False)
    assert (first["questions"], report["decoders"]["plain"]["questions"]) == (1, 3)
    assert list(report["decoders"]["plain"]["categories"]) == ["writing", "math"]
    # Nothing is left to do: the figures are told again.
    assert medusa(*command, "--resume").code == 0
    assert json.loads(out.read_text())["decoders"]["plain"] == report["decoders"]["plain"]


def test_answers_of_another_kind_are_not_gone_on_with(medusa, tiny_model, suite, tmp_path: Path):
    out = tmp_path / "figures.json"
    bench_json(medusa, suite, tiny_model, out)
    ended = medusa("bench", suite, "--model", tiny_model, "--max-tokens", "7", "--json", str(out), "--resume")
    assert ended.code == 1
    assert "measured with another max tokens (6, now 7)" in ended.err


def test_a_file_that_cannot_be_written_is_said(medusa, tiny_model, suite, tmp_path: Path):
    ended = medusa(
        *("bench", suite, "--model", tiny_model, "--max-tokens", "2", "--decoders", "plain"),
        *("--json", str(tmp_path / "no" / "such" / "folder.json")),
    )
    assert ended.code == 1
    assert "The answers cannot be written to" in ended.err


def test_a_picture_that_cannot_be_written_is_said_after_the_figures(medusa, tiny_model, suite, tmp_path: Path):
    ended = medusa(
        *("bench", suite, "--model", tiny_model, "--max-tokens", "2", "--decoders", "plain"),
        *("--svg", str(tmp_path / "no" / "such" / "folder.svg")),
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
