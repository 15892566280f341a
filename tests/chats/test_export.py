"""What is exported can be read, and read back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from doubles.branches import beside, siblings
from hypothesis import given, settings
from hypothesis import strategies as st

from medusa_chat.chats import conversations, export, importing, messages
from medusa_chat.chats.columns import Columns
from medusa_chat.chats.database import Database
from medusa_chat.chats.trace import Believed, TraceStep
from medusa_chat.engine.errors import MedusaError

STEP = TraceStep(((1, "a"), (2, "b")), (-1, 0), (1.0, 0.5), ("root", "head 1"), (0, 1), (2, 3), "b", (1.0,) * 5, 2.5)
BELIEFS = Believed((1.0, 0.25), (0.5, 2.0), ("b", "c"), (0.75, 0.5))


@pytest.fixture
def talk(db) -> int:
    conversation = conversations.create(db, "Be brief.")
    question = messages.add(db, conversation, None, "user", "Capital of France?")
    answer = messages.add(db, conversation, question, "assistant", "Paris.", "unfinished")
    messages.finish(
        db, answer, "finished", {"model": "tiny"}, {"tokens": 2}, Columns([STEP, replace(STEP, beliefs=BELIEFS)])
    )
    beside(db, answer, "Par", "stopped")
    return conversation


def told(db, conversation: int) -> list[tuple]:
    """All that matters of a conversation but its ids."""
    found = messages.tree(db, conversation)
    places = {message.id: place for place, message in enumerate(found)}
    return [
        (
            message.parent if message.parent is None else places[message.parent],
            message.role, message.content, message.state, message.chosen, message.created,
            message.settings, message.statistics, messages.steps_of(db, message.id),
        )
        for message in found
    ]  # fmt: skip


def test_markdown_has_the_active_branch(db, talk):
    text = export.as_markdown(db, talk)
    assert text.startswith("# Capital of France?\n\n*")
    assert "## System prompt\n\nBe brief." in text
    assert text.endswith("## You\n\nCapital of France?\n\n## Model\n\nPar\n\n*(stopped)*\n")


def test_json_comes_back_whole_as_a_new_conversation(db, talk, tmp_path):
    file = tmp_path / "talk.json"
    file.write_text(export.as_json(db, talk), encoding="utf-8")
    copy = importing.import_file(db, file)
    assert copy != talk
    old, new = conversations.get(db, talk), conversations.get(db, copy)
    assert (new.title, new.system, new.created) == (old.title, old.system, old.created)
    assert told(db, copy) == told(db, talk)
    assert json.loads(export.as_json(db, copy)) == json.loads(export.as_json(db, talk))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 20), st.text(max_size=20), st.booleans()), min_size=1, max_size=12))
def test_any_tree_comes_back(plan):
    with TemporaryDirectory() as folder:
        db = Database(Path(folder) / "chats.db")
        conversation = conversations.create(db)
        known: list[int | None] = [None]
        for pick, text, back in plan:
            parent = known[pick % len(known)]
            known.append(messages.add(db, conversation, parent, "user", text))
            if back:
                messages.choose(db, siblings(db, known[-1] or 0)[0])
        copy = importing.import_json(db, export.as_json(db, conversation))
        assert told(db, copy) == told(db, conversation)
        branches = [[each.content for each in messages.branch(db, id)] for id in (copy, conversation)]
        assert branches[0] == branches[1]
        db.close()


def changed(text: str, **changes) -> str:
    return json.dumps({**json.loads(text), **changes})


def with_message(text: str, **changes) -> str:
    whole = json.loads(text)
    whole["messages"][1].update(changes)
    return json.dumps(whole)


BROKEN = {
    "no JSON": lambda text: text[:-9],
    "a list": lambda text: "[]",
    "another format": lambda text: changed(text, format="diary"),
    "another version": lambda text: changed(text, version=2),
    "a title of numbers": lambda text: changed(text, title=5),
    "no date": lambda text: changed(text, created="today"),
    "no messages": lambda text: changed(text, messages=None),
    "a message that is none": lambda text: changed(text, messages=[1]),
    "an endless date": lambda text: text.replace('"created": ', '"created": 1e999, "x": '),
    "deep nesting": lambda text: "[" * 200_000,
    "a wrong id": lambda text: with_message(text, id=9),
    "a parent behind": lambda text: with_message(text, parent=2),
    "a parent of words": lambda text: with_message(text, parent="1"),
    "an unknown role": lambda text: with_message(text, role="system"),
    "a role that is a list": lambda text: with_message(text, role=["user"]),
    "an unknown state": lambda text: with_message(text, state="sad"),
    "no text": lambda text: with_message(text, content=None),
    "no choice": lambda text: with_message(text, chosen=1),
    "settings of words": lambda text: with_message(text, settings="fast"),
    "a broken trace": lambda text: with_message(text, trace={"nodes": [[5]]}),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_is_no_export_adds_nothing(db, talk, tmp_path, name):
    file = tmp_path / "bad.json"
    file.write_text(BROKEN[name](export.as_json(db, talk)), encoding="utf-8")
    with pytest.raises(MedusaError, match=r"bad\.json is not a conversation exported by medusa-chat \(.+\): choose"):
        importing.import_file(db, file)
    assert len(conversations.newest(db, 9)) == 1


def test_bytes_and_missing_files_are_said(db, tmp_path):
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(MedusaError, match="no text in UTF-8"):
        importing.import_file(db, tmp_path / "bytes.json")
    with pytest.raises(MedusaError, match="cannot be read"):
        importing.import_file(db, tmp_path / "missing.json")
