"""The message tree of a conversation, and the one path through it that is shown: the active branch.

Every message remembers whether it is the chosen one of its siblings, so that walking away from a branch and back
finds it as it was left.
"""

from __future__ import annotations

import json
from time import time
from typing import Any

from medusa_chat.chats.columns import Columns, pack
from medusa_chat.chats.conversations import title_from
from medusa_chat.chats.database import Database
from medusa_chat.chats.records import Message, Role, State
from medusa_chat.chats.trace import TraceStep, unpack
from medusa_chat.engine.errors import MedusaError

_COLUMNS = "m.id, m.conversation, m.parent, m.role, m.content, m.state, m.chosen, m.created, m.settings, m.statistics"


def add(
    db: Database, conversation: int, parent: int | None, role: Role, content: str, state: State = "finished"
) -> int:
    """A message below `parent` (None: at the beginning), on the active branch from now on.

    The first one gives an untitled conversation its title; a deleted one it brings back.

    Raises:
        MedusaError: the parent belongs to another conversation or is not there.
    """
    now = time()
    with db.transaction():
        if parent is not None and get(db, parent).conversation != conversation:
            raise MedusaError("A message can only answer one of its own conversation.")
        if parent is not None:
            choose(db, parent)
        _leave_siblings(db, conversation, parent)
        made = db.run(
            "INSERT INTO message (conversation, parent, role, content, state, chosen, created)"
            " VALUES (?, ?, ?, ?, ?, 1, ?)",
            conversation, parent, role, content, state, now,
        )  # fmt: skip
        db.run("UPDATE conversation SET changed = ?, deleted = NULL WHERE id = ?", now, conversation)
        db.run("UPDATE conversation SET title = ? WHERE id = ? AND title = ''", title_from(content), conversation)
    return int(made.lastrowid or 0)


def append_text(db: Database, message: int, text: str) -> None:
    """More of an answer that is being written."""
    db.run("UPDATE message SET content = content || ? WHERE id = ?", text, message)


def finish(
    db: Database,
    message: int,
    state: State,
    settings: dict[str, Any],
    statistics: dict[str, Any],
    trace: Columns | None = None,
) -> None:
    """How an answer ended, what it was made with, and every step of it."""
    with db.transaction():
        db.run(
            "UPDATE message SET state = ?, settings = ?, statistics = ? WHERE id = ?",
            state, json.dumps(settings), json.dumps(statistics), message,
        )  # fmt: skip
        if trace:
            db.run("INSERT OR REPLACE INTO trace (message, steps) VALUES (?, ?)", message, pack(trace))


def get(db: Database, id: int) -> Message:
    """
    Raises:
        MedusaError: there is none.
    """
    row = next(db.rows(f"SELECT {_COLUMNS} FROM message m WHERE id = ?", id), None)
    if row is None:
        raise MedusaError("That message is not there any more: open its conversation again.")
    return _message_of(row)


def branch(db: Database, conversation: int) -> list[Message]:
    """The active branch, oldest first."""
    query = f"""
        WITH RECURSIVE b(id, depth) AS (
            SELECT id, 0 FROM message WHERE conversation = ? AND parent IS NULL AND chosen
            UNION ALL
            SELECT n.id, b.depth + 1 FROM b JOIN message n ON n.parent = b.id WHERE n.chosen
        )
        SELECT {_COLUMNS} FROM b JOIN message m ON m.id = b.id ORDER BY b.depth"""
    return [_message_of(row) for row in db.rows(query, conversation)]


def tree(db: Database, conversation: int) -> list[Message]:
    """All branches, parents before their children."""
    query = f"SELECT {_COLUMNS} FROM message m WHERE conversation = ? ORDER BY id"
    return [_message_of(row) for row in db.rows(query, conversation)]


def choose(db: Database, message: int) -> None:
    """Lead the active branch through a message."""
    ancestors = """
        WITH RECURSIVE a(id) AS (
            SELECT ? UNION ALL SELECT m.parent FROM a JOIN message m ON m.id = a.id WHERE m.parent IS NOT NULL
        )
        SELECT m.id, m.conversation, m.parent FROM a JOIN message m ON m.id = a.id WHERE NOT m.chosen"""
    with db.transaction():
        for id, conversation, parent in list(db.rows(ancestors, message)):
            _leave_siblings(db, conversation, parent)
            db.run("UPDATE message SET chosen = 1 WHERE id = ?", id)


def steps_of(db: Database, message: int) -> list[TraceStep]:
    """The step trace of an answer; empty where none was kept.

    Raises:
        MedusaError: it is damaged.
    """
    row = next(db.rows("SELECT steps FROM trace WHERE message = ?", message), None)
    return [] if row is None else unpack(row[0])


def _leave_siblings(db: Database, conversation: int, parent: int | None) -> None:
    db.run(
        "UPDATE message SET chosen = 0 WHERE conversation = ? AND ifnull(parent, 0) = ifnull(?, 0) AND chosen",
        conversation, parent,
    )  # fmt: skip


def _message_of(row: tuple[Any, ...]) -> Message:
    id, conversation, parent, role, content, state, chosen, created, settings, statistics = row
    return Message(
        id, conversation, parent, role, content, state, bool(chosen), created, _read(settings), _read(statistics)
    )


def _read(text: str | None) -> dict[str, Any] | None:
    value = None if text is None else json.loads(text)
    return value if isinstance(value, dict) else None
