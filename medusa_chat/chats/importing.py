"""Exported JSON brought back as a new conversation: checked whole first, then written whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medusa_chat.chats import conversations, messages
from medusa_chat.chats.columns import Columns
from medusa_chat.chats.database import Database
from medusa_chat.chats.export import FORMAT, VERSION
from medusa_chat.chats.records import ROLES, STATES
from medusa_chat.chats.trace import TraceStep, from_columns
from medusa_chat.engine.errors import MedusaError

_LATEST = 1e11
"""Seconds since 1970 that still are a date."""


@dataclass(frozen=True, slots=True)
class _Entry:
    number: int
    fields: dict[str, Any]
    steps: Sequence[TraceStep]


def import_file(db: Database, path: Path) -> int:
    """The id of the new conversation.

    Raises:
        MedusaError: the file cannot be read or is not what `export.as_json` writes; nothing was added.
    """
    try:
        return import_json(db, path.read_text(encoding="utf-8"))
    except OSError as error:
        raise MedusaError(f"{path} cannot be read ({error.strerror}): choose another file.") from error
    except ValueError as error:
        reason = "it is no text in UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
        raise MedusaError(
            f"{path} is not a conversation exported by medusa-chat ({reason}): choose another file."
        ) from error


def import_json(db: Database, text: str) -> int:
    """
    Raises:
        ValueError: says what is wrong with the text; nothing was added.
    """
    try:
        whole = json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"no JSON, line {error.lineno}") from error
    _check_head(whole)
    entries = [_entry(fields, number) for number, fields in enumerate(whole["messages"], start=1)]
    with db.transaction():
        conversation = conversations.create(db, whole["system"])
        db.run(
            "UPDATE conversation SET title = ?, created = ? WHERE id = ?",
            whole["title"], whole["created"], conversation,
        )  # fmt: skip
        _write(db, conversation, entries)
    return conversation


def _write(db: Database, conversation: int, entries: Sequence[_Entry]) -> None:
    ids: dict[int | None, int | None] = {None: None}
    for entry in entries:
        fields = entry.fields
        id = messages.add(
            db, conversation, ids[fields["parent"]], fields["role"], fields["content"], fields["state"]
        )  # fmt: skip
        ids[entry.number] = id
        db.run("UPDATE message SET created = ? WHERE id = ?", fields["created"], id)
        if fields["settings"] is not None or fields["statistics"] is not None or entry.steps:
            settings, statistics = fields["settings"] or {}, fields["statistics"] or {}
            messages.finish(db, id, fields["state"], settings, statistics, Columns(entry.steps))
    for entry in entries:
        if entry.fields["chosen"]:
            _choose_here(db, ids[entry.number])


def _choose_here(db: Database, id: int | None) -> None:
    """Among its siblings only; the branch it lies on need not be the active one."""
    db.run(
        "UPDATE message SET chosen = 0 WHERE id IN (SELECT n.id FROM message m JOIN message n"
        " ON n.conversation = m.conversation AND n.parent IS m.parent WHERE m.id = ?)",
        id,
    )
    db.run("UPDATE message SET chosen = 1 WHERE id = ?", id)


def _check_head(whole: Any) -> None:
    _require(isinstance(whole, dict) and whole.get("format") == FORMAT, "it does not say that it is one")
    _require(whole.get("version") == VERSION, "its version is not one this program knows")
    _require(isinstance(whole.get("title"), str) and isinstance(whole.get("system"), str), "title or system is no text")
    _require(_is_time(whole.get("created")), "its date is none")
    _require(isinstance(whole.get("messages"), list), "it has no list of messages")


def _entry(fields: Any, number: int) -> _Entry:
    name = f"message {number}"
    _require(
        isinstance(fields, dict) and _is_count(fields.get("id")) and fields["id"] == number, f"{name} is out of order"
    )
    parent = fields.get("parent")
    _require(parent is None or (_is_count(parent) and 1 <= parent < number), f"{name} has no parent before it")
    _require(fields.get("role") in ROLES, f"{name} has an unknown role")
    _require(fields.get("state") in STATES, f"{name} has an unknown state")
    _require(isinstance(fields.get("content"), str), f"{name} has no text")
    _require(isinstance(fields.get("chosen"), bool), f"{name} does not say whether it is chosen")
    _require(_is_time(fields.get("created")), f"{name} has no date")
    for key in ("settings", "statistics"):
        _require(fields.get(key, 0) is None or isinstance(fields.get(key), dict), f"the {key} of {name} are none")
    return _Entry(number, fields, _steps(fields.get("trace"), name))


def _steps(columns: Any, name: str) -> Sequence[TraceStep]:
    if columns is None:
        return ()
    try:
        return from_columns(columns)
    except ValueError as error:
        raise ValueError(f"the trace of {name} is damaged") from error


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_time(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < _LATEST


def _require(holds: bool, reason: str) -> None:
    if not holds:
        raise ValueError(reason)
