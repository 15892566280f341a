"""Conversations as a whole: made, found, named, put away, deleted and brought back."""

from __future__ import annotations

from time import time
from typing import Any

from medusa_chat.chats.database import Database
from medusa_chat.chats.records import Conversation
from medusa_chat.engine.errors import MedusaError

COLUMNS = "c.id, c.title, c.system, c.created, c.changed, c.archived, c.private"
"""What `conversation_of` reads, of a table called c."""

KEPT_SECONDS = 7 * 24 * 3600.0
"""How long a deleted conversation can be brought back."""

_TITLE_LENGTH = 60


def create(db: Database, system: str = "") -> int:
    """A new one, untitled until its first message."""
    now = time()
    made = db.run("INSERT INTO conversation (system, created, changed) VALUES (?, ?, ?)", system, now, now)
    return int(made.lastrowid or 0)


def get(db: Database, id: int) -> Conversation:
    """
    Raises:
        MedusaError: there is none, or it was deleted.
    """
    row = next(db.rows(f"SELECT {COLUMNS} FROM conversation c WHERE id = ? AND deleted IS NULL", id), None)
    if row is None:
        raise _missing()
    return conversation_of(row)


def newest(db: Database, limit: int, offset: int = 0, archived: bool = False) -> list[Conversation]:
    """Those written to last come first; deleted ones are left out, archived ones are a list of their own."""
    query = (
        f"SELECT {COLUMNS} FROM conversation c WHERE deleted IS NULL AND archived = ?"
        " ORDER BY changed DESC, id DESC LIMIT ? OFFSET ?"
    )
    return [conversation_of(row) for row in db.rows(query, archived, limit, offset)]


def rename(db: Database, id: int, title: str) -> None:
    """
    Raises:
        MedusaError: the title is blank, or there is no such conversation.
    """
    if not (title := " ".join(title.split())):
        raise MedusaError("A conversation needs a title: type one, or leave the old one.")
    _set(db, id, "title", title)


def set_system(db: Database, id: int, system: str) -> None:
    """The system prompt of the answers to come; also of one deleted meanwhile, which its next message brings back."""
    db.run("UPDATE conversation SET system = ? WHERE id = ?", system, id)


def archive(db: Database, id: int, archived: bool = True) -> None:
    """Out of the list but not out of the search; or back."""
    _set(db, id, "archived", int(archived))


def keep_private(db: Database, id: int, private: bool = True) -> None:
    """Never read by heads that learn from use; or read again."""
    _set(db, id, "private", int(private))


def lessons_allowed(db: Database) -> list[Conversation]:
    """Those that heads may learn from, archived ones included."""
    query = f"SELECT {COLUMNS} FROM conversation c WHERE deleted IS NULL AND NOT private ORDER BY id"
    return [conversation_of(row) for row in db.rows(query)]


def answers_of(db: Database, model: str, since: float) -> int:
    """How many answers of a model, begun after that time, heads may learn from."""
    query = (
        "SELECT count(*) FROM message m JOIN conversation c ON c.id = m.conversation JOIN trace t ON t.message = m.id"
        " WHERE m.created > ? AND json_extract(m.settings, '$.model') = ? AND c.deleted IS NULL AND NOT c.private"
    )
    return int(next(db.rows(query, since, model))[0])


def delete(db: Database, id: int) -> None:
    """Out of list and search; `restore` undoes it for a week."""
    _set(db, id, "deleted", time())


def restore(db: Database, id: int) -> None:
    """
    Raises:
        MedusaError: it is gone for good.
    """
    if not db.run("UPDATE conversation SET deleted = NULL WHERE id = ?", id).rowcount:
        raise _missing()


def purge(db: Database, before: float) -> int:
    """Forget for good what was deleted before that time; how many that were."""
    gone = "SELECT id FROM conversation WHERE deleted < ?"
    with db.transaction():
        db.run(f"DELETE FROM message WHERE conversation IN ({gone})", before)
        return db.run("DELETE FROM conversation WHERE deleted < ?", before).rowcount


def title_from(message: str) -> str:
    """The first line with words in it, cut between two of them."""
    line = " ".join(next((line for line in message.splitlines() if line.strip()), "").split())
    if len(line) <= _TITLE_LENGTH:
        return line
    cut = line[: _TITLE_LENGTH - 1]
    return f"{cut.rpartition(' ')[0] or cut}…"


def conversation_of(row: tuple[Any, ...]) -> Conversation:
    """From the columns `COLUMNS`; further ones are left to the caller."""
    id, title, system, created, changed, archived, private = row[:7]
    return Conversation(id, title, system, created, changed, bool(archived), bool(private))


def _set(db: Database, id: int, column: str, value: Any) -> None:
    if not db.run(f"UPDATE conversation SET {column} = ? WHERE id = ? AND deleted IS NULL", value, id).rowcount:
        raise _missing()


def _missing() -> MedusaError:
    return MedusaError("That conversation is not there any more: choose another one.")
