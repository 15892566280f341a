"""Earlier conversations, read and changed on the journal's thread: in order with what is being written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import platformdirs

from medusa_chat.chats import conversations
from medusa_chat.chats.database import Database
from medusa_chat.chats.files import write
from medusa_chat.chats.importing import import_file
from medusa_chat.chats.records import Hit
from medusa_chat.chats.search import search
from medusa_chat.tui.journal import Journal

PAGE = 200
"""Conversations fetched at once; searching finds as many at most."""


class Shelf:
    """Every method may raise MedusaError: what cannot be read or done, and the way out."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    @property
    def here(self) -> int | None:
        """The conversation that is open, if it is kept yet."""
        return self._journal.here

    async def find(self, words: str, archived: bool = False, offset: int = 0) -> Sequence[Hit]:
        """A page of those with the words in them, archived or not; without words of the newest of one kind."""

        def find(db: Database) -> list[Hit]:
            if words.strip():
                return search(db, words, PAGE)
            return [Hit(each, ()) for each in conversations.newest(db, PAGE, offset, archived)]

        return await self._journal.read(find)

    async def rename(self, conversation: int, title: str) -> None:
        await self._journal.read(lambda db: conversations.rename(db, conversation, title))

    async def archive(self, conversation: int, archived: bool) -> None:
        await self._journal.read(lambda db: conversations.archive(db, conversation, archived))

    async def toggle_private(self, conversation: int) -> bool:
        """Whether it is private now."""

        def toggle(db: Database) -> bool:
            private = not conversations.get(db, conversation).private
            conversations.keep_private(db, conversation, private)
            return private

        return await self._journal.read(toggle)

    async def delete(self, conversation: int) -> None:
        await self._journal.read(lambda db: conversations.delete(db, conversation))

    async def restore(self, conversation: int) -> None:
        await self._journal.read(lambda db: conversations.restore(db, conversation))

    async def save(self, conversation: int, form: str) -> Path:
        """Into a new file, where downloads go or else in the current folder."""
        return await self._journal.read(lambda db: write(db, conversation, export_folder(), form))

    async def bring_in(self, path: Path) -> int:
        """The id of the conversation made from an exported file."""
        return await self._journal.read(lambda db: import_file(db, path))


def export_folder() -> Path:
    downloads = platformdirs.user_downloads_path()
    return downloads if downloads.is_dir() else Path.cwd()
