"""Files that cannot be used are said so in one sentence, and are never touched."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys

import pytest

from medusa_chat.chats import conversations, database, messages
from medusa_chat.chats.database import Database
from medusa_chat.chats.schema import MIGRATIONS
from medusa_chat.engine.errors import MedusaError


def test_a_second_opening_finds_what_the_first_wrote(file):
    first = Database(file)
    conversation = conversations.create(first)
    messages.add(first, conversation, None, "user", "kept?")
    first.close()
    second = Database(file)
    assert [each.title for each in conversations.newest(second, 5)] == ["kept?"]
    second.close()


def test_two_processes_share_a_file(db, file):
    code = (
        "import sys; from pathlib import Path\n"
        "from medusa_chat.chats import conversations, messages\n"
        "from medusa_chat.chats.database import Database\n"
        "db = Database(Path(sys.argv[1]))\n"
        "messages.add(db, conversations.create(db), None, 'user', 'from elsewhere')\n"
    )
    messages.add(db, conversations.create(db), None, "user", "from here")
    subprocess.run([sys.executable, "-c", code, str(file)], check=True, timeout=60)
    assert [each.title for each in conversations.newest(db, 5)] == ["from elsewhere", "from here"]


def test_a_file_held_by_another_program_is_said(file, monkeypatch):
    monkeypatch.setattr(database, "_WAIT_SECONDS", 0.05)
    db = Database(file)
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(MedusaError, match="being written by another program"):
        conversations.create(db)
    other.execute("ROLLBACK")
    assert conversations.create(db)
    other.close()
    db.close()


def test_a_newer_file_is_left_alone(file):
    raw = sqlite3.connect(file)
    raw.execute("CREATE TABLE future (x)")
    raw.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    raw.commit()
    raw.close()
    with pytest.raises(MedusaError, match="newer version of medusa-chat: update it"):
        Database(file)
    raw = sqlite3.connect(file)
    assert [name for (name,) in raw.execute("SELECT name FROM sqlite_master")] == ["future"]
    raw.close()


def test_a_file_that_is_no_database_is_left_alone(file):
    file.write_bytes(b"My diary. " * 1000)
    with pytest.raises(MedusaError, match="damaged or no file of conversations: move it aside"):
        Database(file)
    assert file.read_bytes() == b"My diary. " * 1000


def test_damage_inside_is_said_where_it_is_met(file):
    db = Database(file)
    conversation = conversations.create(db)
    for number in range(300):
        messages.add(db, conversation, None, "user", f"{number} " * 200)
    db.run("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    size = file.stat().st_size
    with file.open("r+b") as stream:
        stream.seek(size // 3)
        stream.write(os.urandom(size // 3))

    def read_all() -> None:
        again = Database(file)
        try:
            messages.tree(again, conversation)
        finally:
            again.close()

    with pytest.raises(MedusaError, match="damaged: move it aside"):
        read_all()
    assert file.stat().st_size == size


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="permissions that hold for this user")
def test_a_folder_that_cannot_be_written_is_said(file):
    file.parent.chmod(0o500)
    try:
        with pytest.raises(MedusaError, match="cannot be opened: check its permissions"):
            Database(file)
    finally:
        file.parent.chmod(0o700)


def test_a_folder_in_place_of_the_file_is_said(file):
    file.mkdir()
    with pytest.raises(MedusaError, match="cannot be opened"):
        Database(file)


def test_what_fails_halfway_leaves_nothing(db):
    def half() -> None:
        with db.transaction():
            conversations.create(db)
            with db.transaction():
                conversations.create(db)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half()
    assert conversations.newest(db, 5) == []


def test_thousands_of_conversations_are_listed_through_an_index(db):
    plan = " ".join(
        str(row)
        for row in db.rows(
            "EXPLAIN QUERY PLAN SELECT id FROM conversation c WHERE deleted IS NULL AND archived = ?"
            " ORDER BY changed DESC, id DESC LIMIT ? OFFSET ?",
            False, 50, 0,
        )
    )  # fmt: skip
    assert "conversation_newest" in plan
    assert "TEMP B-TREE" not in plan
