"""What calibration promises, held against decoding."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from doubles.small_backbone import small_backbone
from doubles.small_tokenizers import byte_level

from medusa_chat.training import medusa1
from medusa_chat.training.calibrate import calibrate
from medusa_chat.training.conversations import read_all
from medusa_chat.training.distill import Distiller
from medusa_chat.training.material import Split, prepare
from medusa_chat.training.measured import decode_again
from medusa_chat.training.prompts import Prompt
from medusa_chat.training.recipe import Recipe
from medusa_chat.training.scenes import Scene
from medusa_chat.training.talks import Terms

TOKENIZER = byte_level()


def silent(_stage: str, _done: int, _of: int, _note: str) -> None:
    """Progress nobody looks at."""


def test_the_expected_length_is_what_decoding_reaches(tmp_path: Path) -> None:
    backbone = small_backbone(vocab_size=len(TOKENIZER), seed=5)
    out = tmp_path / "own.jsonl"
    terms = Terms(Scene.of(TOKENIZER), backbone.eos_ids, 300, max_tokens=40, temperature=1.0)
    prompts = [Prompt((f"Tell {number} of {number * 7}?",)) for number in range(90)]
    Distiller(terms, out, greedy_share=1.0).answer(backbone.model, prompts, 16)
    data = read_all([out]).conversations
    recipe = Recipe(heads=3, vocab=0, epochs=6, batch=64, learning_rate=5e-3, held_out=0.4, dropout=0.0)
    split = Split.of(data, backbone, recipe.held_out)
    heads = medusa1.train(backbone, split, tmp_path / "run", recipe, silent).heads
    states = prepare(backbone, split, tmp_path / "run" / "hidden", recipe, silent).test
    found = calibrate(heads, states, lambda stage: None)
    with torch.inference_mode():
        for nodes in (4, 8):
            measured = decode_again(backbone, TOKENIZER, heads, found, split.test, nodes)
            assert measured.tokens == sum(one.answers[0][1] - one.answers[0][0] for one in split.test)
            assert measured.tokens_per_step == pytest.approx(found.expected[nodes], rel=0.1)
            assert measured.tokens_per_step > 1.1
