"""`medusa-chat run` on a random model."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from types import SimpleNamespace

import pytest

from medusa_chat.cli.options import PRECISIONS
from medusa_chat.engine.loading import QUANTIZE
from medusa_chat.engine.text.harmless import harmless

DONE_KEYS = {
    "event",
    "decoder",
    "reason",
    "text",
    "tokens",
    "prompt_tokens",
    "seconds",
    "tokens_per_second",
    "steps",
    "acceleration_rate",
    "overhead",
    "speedup",
}


def test_json_is_one_step_event_a_step_then_done(medusa, tiny_model):
    ended = medusa("run", "hello", "--model", tiny_model, "--max-tokens", "9", "--json")
    *steps, done = ended.events
    assert ended.code == 0
    assert [step["step"] for step in steps] == list(range(1, len(steps) + 1))
    for step in steps:
        assert {"event", "step", "tokens", "text", "tree", "path", "ms"} <= set(step)
        assert step["event"] == "step"
        assert step["path"][0] == 0
        tree = step["tree"]
        assert len(tree["tokens"]) == len(tree["parents"]) == len(tree["scores"]) == len(tree["sources"])
        assert tree["sources"][0] == "root"
        assert (tree["parents"][0], tree["scores"][0]) == (-1, 1.0)
        assert {"draft", "verify", "accept"} <= set(step["ms"])
        # The kept nodes are the step's tokens, but for the one the backbone added.
        assert [tree["tokens"][node] for node in step["path"][1:]] == step["tokens"][: len(step["path"]) - 1]
    assert set(done) >= DONE_KEYS
    assert (done["event"], done["decoder"], done["reason"]) == ("done", "joint", "length")
    assert done["tokens"] == [token for step in steps for token in step["tokens"]]
    assert done["text"] == "".join(step["text"] for step in steps)
    assert (len(done["tokens"]), done["steps"]) == (9, len(steps))
    assert done["acceleration_rate"] == pytest.approx(9 / len(steps), abs=1e-4)
    assert done["speedup"] == pytest.approx(done["acceleration_rate"] / done["overhead"], rel=1e-2)


def test_text_goes_to_stdout_and_figures_to_stderr(medusa, tiny_model):
    told = medusa("run", "hello", "--model", tiny_model, "--max-tokens", "9", "--json").events[-1]
    ended = medusa("run", "hello", "--model", tiny_model, "--max-tokens", "9", "--stats")
    assert ended.out == told["text"] + "\n"
    for figure in ("joint: 9 tokens", "tokens/s", "tokens per step", "overhead", "speedup"):
        assert figure in ended.err


def test_the_prompt_may_be_piped_in(medusa, tiny_model):
    common = ("--model", tiny_model, "--max-tokens", "5", "--json")
    given = medusa("run", "Wer weiß?", *common).events[-1]
    piped = medusa("run", *common, stdin="Wer weiß?\n".encode()).events[-1]
    assert (piped["tokens"], piped["prompt_tokens"]) == (given["tokens"], given["prompt_tokens"])


@pytest.mark.parametrize("stdin", [b"", b" \n\t "])
def test_an_empty_prompt_is_refused_in_one_sentence(medusa, tiny_model, stdin: bytes):
    ended = medusa("run", "--model", tiny_model, stdin=stdin)
    assert (ended.code, ended.out, ended.err) == (
        1,
        "",
        "medusa-chat: The prompt is empty; there is nothing to answer.\n",
    )


def test_the_system_prompt_reaches_the_model(medusa, tiny_model):
    common = ("run", "hello", "--model", tiny_model, "--max-tokens", "1", "--json")
    without = medusa(*common).events[-1]
    with_system = medusa(*common, "--system", "Speak like a pirate.").events[-1]
    assert with_system["prompt_tokens"] > without["prompt_tokens"]


def test_sampling_flags_reach_the_engine_and_a_seed_repeats_a_run(medusa, tiny_model):
    common = ("run", "hello", "--model", tiny_model, "--max-tokens", "12", "--json", "--temperature", "1.5")
    once = medusa(*common).events[-1]
    again = medusa(*common, "--seed", str(once["seed"])).events[-1]
    other = medusa(*common, "--seed", str(once["seed"] + 1)).events[-1]
    assert again["tokens"] == once["tokens"] != other["tokens"]
    likeliest = medusa(*common, "--top-k", "1").events[-1]
    assert likeliest["tokens"] == medusa(*common, "--temperature", "0").events[-1]["tokens"]


def test_tree_flags_reach_the_engine(medusa, tiny_model):
    steps = medusa(
        *("run", "hello", "--model", tiny_model, "--max-tokens", "8", "--json"),
        *("--budget", "5", "--heads", "1", "--top-k-per-head", "2", "--tree", "cartesian"),
    ).events[:-1]
    assert {len(step["tree"]["tokens"]) for step in steps} == {3}


def test_stop_strings_reach_the_engine(medusa, tiny_model):
    common = ("run", "hello", "--model", tiny_model, "--max-tokens", "30", "--json")
    text = medusa(*common).events[-1]["text"]
    stop = text[len(text) // 2 :][:3]
    done = medusa(*common, "--stop", stop).events[-1]
    assert (done["reason"], done["text"]) == ("stop", text[: text.index(stop)])


def test_without_heads_the_others_draft_unless_medusa_is_asked_for(medusa, headless_model):
    common = ("run", "hello", "--model", headless_model, "--max-tokens", "30", "--json")
    *steps, done = medusa(*common).events
    assert done["decoder"] == "joint"
    assert {source for step in steps for source in step["tree"]["sources"]} <= {"root", "lookup", "recycle"}
    assert done["tokens"] == medusa(*common, "--decoder", "plain").events[-1]["tokens"]
    for asked in (("--decoder", "medusa"), ("--tree", "cartesian")):
        refused = medusa(*common, *asked)
        assert (refused.code, refused.out) == (1, "")
        assert "heads" in refused.err


def test_a_model_that_is_not_there_is_one_sentence(medusa):
    ended = medusa("run", "hello", "--model", "no-such-model")
    assert (ended.code, ended.out, ended.err.count("\n")) == (1, "", 1)
    assert "no-such-model" in ended.err


def test_ctrl_c_ends_the_answer_with_what_was_written(start, tiny_model):
    process = start("run", "hello", "--model", tiny_model, "--max-tokens", "4000", "--json")
    first = process.stdout.readline()
    process.send_signal(signal.SIGINT)
    # Not communicate(): it would miss what was read ahead together with the first line.
    rest, err = process.stdout.read(), process.stderr.read()
    *steps, done = [json.loads(line) for line in [first, *rest.splitlines()]]
    assert (process.wait(timeout=120), err) == (130, "")
    assert (done["event"], done["reason"]) == ("done", "cancelled")
    assert done["tokens"] == [token for step in steps for token in step["tokens"]]
    assert 0 < len(done["tokens"]) < 4000


def test_a_reader_that_has_seen_enough_is_no_error(start, tiny_model):
    process = start("run", "hello", "--model", tiny_model, "--max-tokens", "4000", "--json")
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == ""
    process.wait(timeout=120)


def test_the_precisions_offered_are_the_engine_s(tmp_path: Path):
    assert PRECISIONS == QUANTIZE


def test_a_terminal_is_shown_control_characters_a_pipe_gets_them_as_they_are(
    medusa, tiny_model, monkeypatch: pytest.MonkeyPatch
):
    common = ("run", "hello", "--model", tiny_model, "--max-tokens", "80", "--temperature", "2", "--seed", "1")
    text = medusa(*common, "--json").events[-1]["text"]
    assert harmless(text) != text, "this seed writes no control character: take another"
    assert medusa(*common).out == text + "\n"
    monkeypatch.setattr("medusa_chat.cli.run.sys", SimpleNamespace(stdout=SimpleNamespace(isatty=lambda: True)))
    assert medusa(*common).out == harmless(text) + "\n"


@pytest.mark.parametrize(
    ("decoder", "rule", "lossy"),
    [
        ("medusa", "typical", True),
        ("lookup", "threshold", True),
        ("plain", "typical", False),
        ("medusa", "lossless", False),
    ],
)
def test_a_lossy_rule_is_called_so_wherever_figures_stand(medusa, tiny_model, decoder, rule, lossy):
    asked = ("hello", "--model", tiny_model, "--max-tokens", "5", "--rule", rule, "--temperature", "1", "--seed", "1")
    done = medusa("run", *asked, "--decoder", decoder, "--json").events[-1]
    assert (done["rule"], done["lossy"]) == (rule, lossy)
    assert (f"{decoder}, lossy:" in medusa("run", *asked, "--decoder", decoder, "--stats").err) == lossy
    assert (f"{decoder}, lossy" in medusa("compare", *asked, "--decoders", decoder).out) == lossy
