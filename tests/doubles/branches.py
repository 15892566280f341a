"""Messages beside others, as the screen's scribe makes them."""

from __future__ import annotations

from medusa_chat.chats import messages
from medusa_chat.chats.database import Database
from medusa_chat.chats.records import State


def beside(db: Database, message: int, content: str, state: State = "finished") -> int:
    """The edited form of a question, or another answer."""
    old = messages.get(db, message)
    return messages.add(db, old.conversation, old.parent, old.role, content, state)


def siblings(db: Database, message: int) -> list[int]:
    """The message itself and those in its place on other branches, oldest first."""
    old = messages.get(db, message)
    return [each.id for each in messages.tree(db, old.conversation) if each.parent == old.parent]
