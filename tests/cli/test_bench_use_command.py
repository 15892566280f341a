"""A scripted person, and what heads learn from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from medusa_chat.bench.subject_questions import questions
from medusa_chat.settings.paths import chats_file, models_dir


def test_seventy_distinct_questions_in_an_order_of_their_own() -> None:
    assert len(set(questions())) == 70
    assert questions() == questions(0) != questions(1)


def test_before_and_after_are_decoded_and_nothing_of_the_persons_is_touched(
    medusa: Any, tiny_model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = models_dir() / "mine"
    store.mkdir()
    (store / "card.toml").write_text(
        f'name = "mine"\ntitle = "Mine"\nlicence = "MIT"\n[source]\nkind = "folder"\npath = "{tiny_model}"\n'
    )
    file = tmp_path / "use.json"
    ended = medusa("bench", "use", "--model", "mine", "--answers", "50", "--tokens", "16", "--json", str(file))
    assert ended.code == 0, ended.err
    assert "on 10 further questions" in ended.out
    found = json.loads(file.read_text())
    assert found["lesson"]["answers"] + found["lesson"]["held_out"] == 50
    # A tiny model of random weights repeats itself, which fresh heads cannot know and taught ones do.
    assert found["after"]["accepted_length"] > found["before"]["accepted_length"] >= 1.0
    assert found["after"]["tokens"] == found["before"]["tokens"]
    assert not chats_file().exists()
    assert sorted(path.name for path in store.iterdir()) == ["card.toml"]


def test_a_model_without_heads_is_told_how_to_get_some(medusa: Any, headless_model: str) -> None:
    assert "has no heads that could learn" in medusa("bench", "use", "--model", headless_model).err
