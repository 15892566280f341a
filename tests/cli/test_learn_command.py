"""Heads that learn from the conversations kept on this machine."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from filelock import FileLock

from medusa_chat import catalog
from medusa_chat.chats import conversations, messages
from medusa_chat.chats.columns import Columns
from medusa_chat.chats.database import Database
from medusa_chat.chats.trace import TraceStep
from medusa_chat.engine.options import Decoding, Limits, Sampling
from medusa_chat.host.session import Session
from medusa_chat.settings.paths import chats_file, models_dir

CARD = 'name = "mine"\ntitle = "Mine"\nlicence = "MIT"\n[source]\nkind = "folder"\npath = "{path}"\n'


@pytest.fixture
def mine(tiny_model: str, tmp_path: Path) -> str:
    """A card of this user's own for a random model with three fresh heads."""
    store = models_dir() / "mine"
    store.mkdir()
    (store / "card.toml").write_text(CARD.format(path=tiny_model))
    return "mine"


def answered(model: str, count: int, *, private: bool = False, made_by: str | None = None) -> int:
    """Let the model itself answer, and keep that as the app does; returns the conversation."""
    session = Session.open(model)
    db = Database(chats_file())
    chat = conversations.create(db)
    for number in range(count):
        asked = f"Tell me of the number {number}, and of {number * 3}."
        question = messages.add(db, chat, None, "user", asked)
        answer = messages.add(db, chat, question, "assistant", "", "unfinished")
        prompt = session.prompt_ids([{"role": "user", "content": asked}])
        steps = [
            TraceStep(((step.tokens[-1], ""),), (-1,), (1.0,), ("root",), (0,), step.tokens, step.text, (1.0,) * 5)
            for step in session.start(prompt, Sampling(), Decoding("plain"), Limits(max_tokens=24))
        ]
        messages.append_text(db, answer, "".join(step.text for step in steps) or "?")
        messages.finish(
            db, answer, "finished", {"model": made_by or model, "sampling": {"temperature": 0}}, {}, Columns(steps)
        )
    if private:
        conversations.keep_private(db, chat)
    db.close()
    return chat


def test_heads_that_got_better_are_used_from_the_next_answer_on(medusa: Any, mine: str) -> None:
    answered(mine, 60)
    session = Session.open(mine)
    before = session.heads
    session.start([5, 6], Sampling(), Decoding(), Limits(max_tokens=2))
    assert session.heads is before
    ended = medusa("learn", "--model", mine, "--share", "0.5", "--epochs", "12", "--json")
    assert ended.code == 0, ended.err
    (event,) = ended.events
    assert event["used"]
    assert event["after"] >= 1.01 * event["before"]
    assert event["answers"] + event["held_out"] == 60
    assert catalog.find(mine).heads_folder() == models_dir() / "mine" / "learned"
    session.start([5, 6], Sampling(), Decoding(), Limits(max_tokens=2))
    assert session.heads is not before
    assert json.loads((models_dir() / "mine" / "lessons.jsonl").read_text())["used"]
    assert not list((models_dir() / "mine" / "lesson").iterdir())

    ended = medusa("learn", "--model", mine, "--forget")
    assert "from before are used again" in ended.out
    assert catalog.find(mine).heads_folder() != models_dir() / "mine" / "learned"
    assert "nothing to forget" in medusa("learn", "--model", mine, "--forget").out


def test_heads_that_got_no_better_are_thrown_away(medusa: Any, mine: str) -> None:
    answered(mine, 40)
    ended = medusa("learn", "--model", mine, "--share", "0.5", "--epochs", "0.01")
    assert ended.code == 0
    assert "nothing changes" in ended.out
    assert not (models_dir() / "mine" / "learned").exists()
    assert not json.loads((models_dir() / "mine" / "lessons.jsonl").read_text())["used"]


def test_excluded_conversations_and_other_models_are_never_read(medusa: Any, mine: str) -> None:
    answered(mine, 15)
    answered(mine, 15, private=True)
    answered(mine, 15, made_by="another")
    ended = medusa("learn", "--model", mine)
    assert ended.code == 1
    assert "There are 15 answers to learn from yet; 20 are needed" in ended.err


def test_deleted_conversations_are_not_read(medusa: Any, mine: str) -> None:
    chat = answered(mine, 25)
    db = Database(chats_file())
    conversations.delete(db, chat)
    db.close()
    assert "There are 0 answers" in medusa("learn", "--model", mine).err


def test_nothing_is_learned_on_the_battery(medusa: Any, mine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("medusa_chat.cli.learn.LOOK_EVERY", -1.0)
    monkeypatch.setattr(psutil, "sensors_battery", lambda: SimpleNamespace(power_plugged=False), raising=False)
    answered(mine, 25)
    ended = medusa("learn", "--model", mine)
    assert ended.code == 1
    assert "runs on its battery" in ended.err
    assert medusa("learn", "--model", mine, "--share", "0.5", "--on-battery", "--epochs", "0.1").code == 0


def test_only_one_learns_at_a_time(medusa: Any, mine: str) -> None:
    with FileLock(models_dir() / "mine" / "learn.lock"):
        ended = medusa("learn", "--model", mine)
    assert ended.code == 1
    assert "are learning already" in ended.err


def test_a_model_without_heads_is_told_how_to_get_some(medusa: Any, mine: str, headless_model: str) -> None:
    shutil.rmtree(models_dir() / "mine")
    (models_dir() / "mine").mkdir()
    (models_dir() / "mine" / "card.toml").write_text(CARD.format(path=headless_model))
    assert "has no heads that could learn" in medusa("learn", "--model", mine).err
