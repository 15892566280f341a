"""One open file of conversations: transactions, rows, and SQLite's complaints in plain words."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from medusa_chat.chats.schema import migrate
from medusa_chat.engine.errors import MedusaError

_WAIT_SECONDS = 2.0
"""How long another process may hold the file; a transaction of ours takes milliseconds."""

_TROUBLE = (
    ("locked", "{path} is being written by another program: close it or try again"),
    ("readonly", "{path} cannot be written: change its permissions, or set MEDUSA_CHAT_HOME to a folder you own"),
    ("unable to open", "{path} cannot be opened: check its permissions, or set MEDUSA_CHAT_HOME to a folder you own"),
    ("not a database", "{path} is damaged or no file of conversations: move it aside to start a new one"),
    ("malformed", "{path} is damaged: move it aside to start a new one, and keep it, for most of it can be recovered"),
    ("is full", "the disk that holds {path} is full: free some space"),
    ("fts5", "this Python's SQLite has no full-text search (FTS5): use another build of Python"),
)


class Database:
    """For one thread, the one that opened it."""

    def __init__(self, path: Path) -> None:
        """Open the file, made if it is missing, and bring its tables up to date.

        Raises:
            MedusaError: it cannot be opened, is damaged, or was written by a newer version. It is never replaced.
        """
        self.path = path
        with self._plain_words():
            self._connection = sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None)
            try:
                self._connection.execute("PRAGMA foreign_keys = ON")
                self._connection.execute("PRAGMA journal_mode = WAL")
                # With less than this a pulled plug could take back what was committed.
                self._connection.execute("PRAGMA synchronous = FULL")
                migrate(self._connection, path)
            except BaseException:
                self._connection.close()
                raise

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All statements inside, or none of them; inside another transaction, part of that one."""
        if self._connection.in_transaction:
            yield
            return
        with self._plain_words():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                self._take_back()
                raise

    def _take_back(self) -> None:
        """Some errors have ended the transaction already."""
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def run(self, statement: str, *values: Any) -> sqlite3.Cursor:
        """A statement that changes something; its cursor tells `lastrowid` and `rowcount`.

        Raises:
            MedusaError: as all of this class, whatever SQLite complains about.
        """
        with self._plain_words():
            return self._connection.execute(statement, [_storable(value) for value in values])

    def rows(self, query: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        """One after the other; what is not asked for is not looked up."""
        with self._plain_words():
            yield from self._connection.execute(query, [_storable(value) for value in values])

    @contextmanager
    def _plain_words(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            words = str(error)
            known = (text for sign, text in _TROUBLE if sign in words)
            sentence = next(known, "{path} could not be used (" + words.replace("{", "").replace("}", "") + ")")
            raise MedusaError(f"Conversations: {sentence.format(path=self.path)}.") from error


def _storable(value: Any) -> Any:
    """Half a surrogate pair, as a paste may bring, has no form in UTF-8."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
