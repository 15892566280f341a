"""Facts about the default model's converted weights."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer

from medusa_chat import catalog

pytestmark = pytest.mark.default_model

# Rendered and tokenised by transformers straight from the GGUF file.
FIRST_TOKENS = [
    1,
    9690,
    198,
    2683,
    359,
    253,
    5356,
    5646,
    11173,
    3365,
    3511,
    308,
    34519,
    28,
    7018,
    411,
    407,
    19712,
    8182,
    2,
]
ANSWERS = Path(__file__).parents[3] / "shared" / "data" / "smollm2-135m-answers.jsonl"


@pytest.fixture
def home() -> None:
    """These tests need the real home, where the weights lie."""


@pytest.fixture
def folder() -> Path:
    card = catalog.find(catalog.DEFAULT_MODEL)
    if not card.is_here() and not os.environ.get("CI"):
        pytest.skip(f"model {card.name} is not here: medusa-chat models pull")
    return card.folder()


@pytest.fixture
def tokenizer(folder: Path) -> Any:
    return AutoTokenizer.from_pretrained(folder)


def test_the_card_tells_the_size_on_disk_and_the_context(folder: Path) -> None:
    card = catalog.find(catalog.DEFAULT_MODEL)
    assert card.disk is not None
    assert sum(file.stat().st_size for file in folder.iterdir()) == pytest.approx(card.disk, rel=0.01)
    assert json.loads((folder / "config.json").read_text())["max_position_embeddings"] == card.context


def test_the_chat_template_puts_the_default_system_prompt_first(tokenizer: Any) -> None:
    rendered = tokenizer.apply_chat_template(
        [{"role": "user", "content": "Hi"}], tokenize=False, add_generation_prompt=True
    )
    ids = tokenizer(rendered, add_special_tokens=False)["input_ids"]
    assert ids[: len(FIRST_TOKENS)] == FIRST_TOKENS
    assert rendered.endswith("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n")
    assert (tokenizer.eos_token_id, tokenizer.bos_token_id) == (2, 1)


@pytest.mark.parametrize("text", ["", " ", "naïve café", "日本語 and 🙂", "x  =  1\n\n\n2.\t3", "<|im_end|>"])
def test_texts_survive_the_tokenizer(tokenizer: Any, text: str) -> None:
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    assert tokenizer.decode(ids, clean_up_tokenization_spaces=False) == text


@pytest.mark.skipif(not ANSWERS.exists(), reason="the optional data of recorded answers is not beside the checkout")
def test_recorded_answers_read_back_as_they_were_written(tokenizer: Any) -> None:
    """What the model wrote is what the tokenizer makes of its text: lists with a blank line before them, too."""
    lists = same = 0
    for line in ANSWERS.read_text("utf-8").splitlines()[:1500]:
        ids = [token for token in json.loads(line)["answer_ids"] if token != tokenizer.eos_token_id]
        text = tokenizer.decode(ids)
        if "\n\n1." in text:
            lists += 1
            same += tokenizer(text, add_special_tokens=False)["input_ids"] == ids
    assert lists > 10
    assert same >= 0.8 * lists
