"""`medusa-chat compare` on a random model."""

from __future__ import annotations

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from medusa_chat.engine.text.template import render


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
