"""Files conversations are saved in: names any system takes, and nothing overwritten."""

from __future__ import annotations

import pytest

from medusa_chat.chats import conversations, messages
from medusa_chat.chats.files import file_name, write
from medusa_chat.chats.importing import import_file
from medusa_chat.engine.errors import MedusaError


@pytest.fixture
def talk(db) -> int:
    conversation = conversations.create(db)
    question = messages.add(db, conversation, None, "user", "Why?")
    messages.add(db, conversation, question, "assistant", "Because.")
    return conversation


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("What is it?", "What is it"),
        ("../../etc/passwd", "etc passwd"),
        ("a\x1b[31m\nb", "a [31m b"),
        ("a\u202egnp.exe", "a gnp.exe"),
        ("NUL.txt", "_NUL.txt"),
        ("...", "conversation"),
        ("", "conversation"),
        ("東京 🗼 مرحبا", "東京 🗼 مرحبا"),
        ("東" * 100, "東" * 40),
    ],
)
def test_any_title_makes_a_name(title, name):
    assert file_name(title) == name


def test_nothing_is_overwritten(db, talk, tmp_path):
    written = [write(db, talk, tmp_path, "md") for _ in range(3)]
    assert [path.name for path in written] == ["Why.md", "Why 2.md", "Why 3.md"]
    assert written[0].read_text(encoding="utf-8") == written[2].read_text(encoding="utf-8")
    assert "Because." in written[0].read_text(encoding="utf-8")


def test_json_comes_back(db, talk, tmp_path):
    again = import_file(db, write(db, talk, tmp_path, "json"))
    assert [message.content for message in messages.branch(db, again)] == ["Why?", "Because."]


def test_a_folder_that_cannot_be_written_is_named(db, talk, tmp_path):
    with pytest.raises(MedusaError, match="nowhere"):
        write(db, talk, tmp_path / "nowhere", "md")
    with pytest.raises(MedusaError, match="not there any more"):
        write(db, 99, tmp_path, "md")
