"""The tables, as numbered migrations: a file's `user_version` says how many of them it has seen.

A migration that was released is never changed; the next change of the tables is a further one.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from medusa_chat.engine.errors import MedusaError

_FIRST = (
    """CREATE TABLE conversation (
        id INTEGER PRIMARY KEY,
        title TEXT NOT NULL DEFAULT '',
        system TEXT NOT NULL DEFAULT '',
        created REAL NOT NULL,
        changed REAL NOT NULL,
        archived INTEGER NOT NULL DEFAULT 0,
        deleted REAL
    )""",
    # A parent is never deleted alone, and a cascade along a long conversation would exceed SQLite's trigger depth.
    """CREATE TABLE message (
        id INTEGER PRIMARY KEY,
        conversation INTEGER NOT NULL REFERENCES conversation(id),
        parent INTEGER REFERENCES message(id),
        role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
        content TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('unfinished', 'finished', 'stopped', 'failed')),
        chosen INTEGER NOT NULL,
        created REAL NOT NULL,
        settings TEXT,
        statistics TEXT
    )""",
    """CREATE TABLE trace (
        message INTEGER PRIMARY KEY REFERENCES message(id) ON DELETE CASCADE,
        steps BLOB NOT NULL
    )""",
    "CREATE INDEX conversation_newest ON conversation(archived, changed DESC, id DESC) WHERE deleted IS NULL",
    "CREATE INDEX message_parent ON message(parent)",
    "CREATE UNIQUE INDEX message_chosen ON message(conversation, ifnull(parent, 0)) WHERE chosen",
    "CREATE INDEX message_conversation ON message(conversation)",
    # The full-text index keeps no second copy of the text; so the triggers must hand it the old words to forget.
    """CREATE VIRTUAL TABLE message_text USING fts5(
        content, content='message', content_rowid='id', tokenize='unicode61 remove_diacritics 2', prefix='1 2 3'
    )""",
    """CREATE VIRTUAL TABLE conversation_text USING fts5(
        title, content='conversation', content_rowid='id', tokenize='unicode61 remove_diacritics 2'
    )""",
    """CREATE TRIGGER message_added AFTER INSERT ON message BEGIN
        INSERT INTO message_text(rowid, content) VALUES (new.id, new.content);
    END""",
    """CREATE TRIGGER message_written AFTER UPDATE OF content ON message BEGIN
        INSERT INTO message_text(message_text, rowid, content) VALUES ('delete', old.id, old.content);
        INSERT INTO message_text(rowid, content) VALUES (new.id, new.content);
    END""",
    """CREATE TRIGGER message_gone AFTER DELETE ON message BEGIN
        INSERT INTO message_text(message_text, rowid, content) VALUES ('delete', old.id, old.content);
    END""",
    """CREATE TRIGGER conversation_added AFTER INSERT ON conversation BEGIN
        INSERT INTO conversation_text(rowid, title) VALUES (new.id, new.title);
    END""",
    """CREATE TRIGGER conversation_titled AFTER UPDATE OF title ON conversation BEGIN
        INSERT INTO conversation_text(conversation_text, rowid, title) VALUES ('delete', old.id, old.title);
        INSERT INTO conversation_text(rowid, title) VALUES (new.id, new.title);
    END""",
    """CREATE TRIGGER conversation_gone AFTER DELETE ON conversation BEGIN
        INSERT INTO conversation_text(conversation_text, rowid, title) VALUES ('delete', old.id, old.title);
    END""",
)

_SECOND = ("ALTER TABLE conversation ADD COLUMN private INTEGER NOT NULL DEFAULT 0",)

MIGRATIONS: tuple[tuple[str, ...], ...] = (_FIRST, _SECOND)


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring a file up to date, all or nothing.

    Raises:
        MedusaError: the file was written by a newer version; it is left as it is.
    """
    if _version(connection, path) == len(MIGRATIONS):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Read again: another process may have been first.
        for number in range(_version(connection, path), len(MIGRATIONS)):
            for statement in MIGRATIONS[number]:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number + 1}")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _version(connection: sqlite3.Connection, path: Path) -> int:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > len(MIGRATIONS):
        raise MedusaError(
            f"The conversations in {path} were written by a newer version of medusa-chat: update it; nothing was changed."
        )
    return version
