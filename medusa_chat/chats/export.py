"""A conversation as a file for other eyes: Markdown to read, JSON to keep and to bring back (`importing`)."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any

from medusa_chat.chats import conversations, messages
from medusa_chat.chats.columns import Columns
from medusa_chat.chats.database import Database
from medusa_chat.chats.records import Message

FORMAT = "medusa-chat conversation"
VERSION = 1

_SPEAKERS = {"user": "You", "assistant": "Model"}
_ENDINGS = {"unfinished": "not finished", "stopped": "stopped", "failed": "broken off"}


def as_markdown(db: Database, conversation: int) -> str:
    """The active branch, every message under a heading, its text as it was written."""
    about = conversations.get(db, conversation)
    day = datetime.fromtimestamp(about.created, timezone.utc).strftime("%Y-%m-%d")
    parts = [f"# {about.title}", f"*{day}*"]
    if about.system:
        parts += ["## System prompt", about.system]
    for message in messages.branch(db, conversation):
        parts += [f"## {_SPEAKERS[message.role]}", message.content]
        if message.state in _ENDINGS:
            parts.append(f"*({_ENDINGS[message.state]})*")
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def as_json(db: Database, conversation: int) -> str:
    """Every branch, with settings, statistics and step traces; messages are numbered from 1, parents first."""
    about = conversations.get(db, conversation)
    found = messages.tree(db, conversation)
    numbers = {message.id: number for number, message in enumerate(found, start=1)}
    entries = [_entry(db, message, numbers) for message in found]
    head = {"format": FORMAT, "version": VERSION, "title": about.title, "system": about.system}
    return json.dumps({**head, "created": about.created, "messages": entries}, ensure_ascii=False, indent=1) + "\n"


def _entry(db: Database, message: Message, numbers: dict[int, int]) -> dict[str, Any]:
    steps = messages.steps_of(db, message.id)
    return {
        "id": numbers[message.id],
        "parent": None if message.parent is None else numbers[message.parent],
        "role": message.role,
        "content": message.content,
        "state": message.state,
        "chosen": message.chosen,
        "created": message.created,
        "settings": message.settings,
        "statistics": message.statistics,
        "trace": Columns(steps).as_json() if steps else None,
    }
