"""`medusa-chat compare` on a random model."""

from __future__ import annotations

import signal

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from medusa_chat.engine.text.template import render
from medusa_chat.host.race import fair_turns


def test_json_is_one_done_a_decoder_then_the_verdict(medusa, tiny_model):
    ended = medusa("compare", "hello", "--model", tiny_model, "--max-tokens", "20", "--json")
    *answers, verdict = ended.events
    assert ended.code == 0
    assert [(told["event"], told["decoder"]) for told in answers] == [
        ("done", "plain"),
        ("done", "joint"),
        ("done", "medusa"),
        ("done", "lookup"),
    ]
    assert verdict == {"event": "verdict", "identical": True, "first_difference": None}
    assert len({tuple(told["tokens"]) for told in answers}) == 1
    plain, *others = answers
    assert (plain["acceleration_rate"], plain["overhead"], plain["speedup"]) == (1.0, 1.0, 1.0)
    for told in others:
        measured = told["tokens_per_second"] / plain["tokens_per_second"]
        assert told["speedup"] == pytest.approx(measured, rel=1e-2)


def test_the_first_difference_has_index_tokens_texts_and_the_gap_of_their_logits(medusa, tiny_model):
    # `typical` keeps nearly every guess of a model this unsure, so it leaves the plain answer soon.
    ended = medusa(
        *("compare", "hello", "--model", tiny_model, "--max-tokens", "20", "--json"),
        *("--decoders", "plain,medusa", "--temperature", "1", "--seed", "3", "--rule", "typical", "--quantize", "none"),
        # A live budget may find that drafting does not pay on a crowded machine.
        *("--budget", "8"),
    )
    plain, other, verdict = ended.events
    first = verdict["first_difference"]
    assert not verdict["identical"]
    assert first["decoders"] == ["plain", "medusa"]
    index = first["index"]
    assert plain["tokens"][:index] == other["tokens"][:index]
    assert first["tokens"] == [plain["tokens"][index], other["tokens"][index]]
    assert first["tokens"][0] != first["tokens"][1]
    tokenizer = AutoTokenizer.from_pretrained(tiny_model)
    assert first["texts"] == [tokenizer.decode([token]) for token in first["tokens"]]
    prompt = render(tokenizer, [{"role": "user", "content": "hello"}])
    model = AutoModelForCausalLM.from_pretrained(tiny_model)
    with torch.no_grad():
        logits = model(torch.tensor([prompt + plain["tokens"][:index]])).logits[0, -1]
    left, right = first["tokens"]
    assert first["logit_gap"] == pytest.approx(float(logits[left] - logits[right]), abs=1e-4)


def test_people_see_the_text_once_a_table_and_a_verdict(medusa, tiny_model):
    ended = medusa("compare", "hello", "--model", tiny_model, "--max-tokens", "8", "--decoders", "plain,medusa")
    assert ended.code == 0
    assert ended.out.count("[plain, medusa]\n") == 1
    for column in ("tokens/s", "overhead", "speedup"):
        assert column in ended.out
    assert "All answers are identical, token for token." in ended.out


def test_a_drawn_seed_is_told_and_shared_by_all_lanes(medusa, tiny_model):
    *answers, _ = medusa(
        *("compare", "hello", "--model", tiny_model, "--max-tokens", "5", "--json", "--temperature", "1")
    ).events
    assert len({told["seed"] for told in answers}) == 1
    assert isinstance(answers[0]["seed"], int)


@pytest.fixture
def interrupted(monkeypatch):
    """Ctrl-c falls into the seventh turn."""

    def turns(*arguments):
        for number, turn in enumerate(fair_turns(*arguments), start=1):
            if number == 7:
                signal.raise_signal(signal.SIGINT)
            yield turn

    monkeypatch.setattr("medusa_chat.host.comparison.fair_turns", turns)


def test_ctrl_c_ends_all_lanes_with_what_was_written(medusa, tiny_model, interrupted):
    ended = medusa("compare", "hello", "--model", tiny_model, "--max-tokens", "400", "--json")
    assert ended.code == 130
    assert [(told["event"], told["decoder"], told["reason"]) for told in ended.events] == [
        ("done", decoder, "cancelled") for decoder in ("plain", "joint", "medusa", "lookup")
    ]
    assert sum(told["steps"] for told in ended.events) == 7
    assert all(len(told["tokens"]) >= told["steps"] for told in ended.events)


def test_after_ctrl_c_people_see_how_far_the_lanes_agree(medusa, tiny_model, interrupted):
    ended = medusa("compare", "hello", "--model", tiny_model, "--max-tokens", "400")
    assert ended.code == 130
    assert ended.out.count("cancelled") == 4
    assert "Stopped; as far as they got, the answers are identical, token for token." in ended.out


def test_a_decoder_that_cannot_be_is_said_before_anything_is_answered(medusa, headless_model):
    ended = medusa("compare", "hello", "--model", headless_model, "--decoders", "plain,medusa")
    assert (ended.code, ended.out) == (1, "")
    assert "has no Medusa heads here" in ended.err.splitlines()[-1]


def test_without_plain_decoding_plain_steps_are_timed_beside_the_others(medusa, tiny_model):
    answers = medusa(
        *("compare", "hello", "--model", tiny_model, "--max-tokens", "9", "--json", "--decoders", "medusa,lookup")
    ).events[:-1]
    assert all(told["overhead"] is not None and told["speedup"] is not None for told in answers)
