"""A conversation written into a file of its own, named after its title. No file that is there is ever touched."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from medusa_chat.chats import conversations
from medusa_chat.chats.database import Database
from medusa_chat.chats.export import as_json, as_markdown
from medusa_chat.engine.errors import MedusaError

FORMS: dict[str, Callable[[Database, int], str]] = {"md": as_markdown, "json": as_json}
"""By what the name of the file ends with."""

_NAME_BYTES = 120
"""File systems allow 255; the number and the ending need some."""

_UNFIT = re.compile(r'[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069<>:"/\\|?*]+')
"""Not allowed in names somewhere, or turning the direction of what follows."""

_TAKEN = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)
"""Names of devices on Windows."""


def write(db: Database, conversation: int, folder: Path, form: str) -> Path:
    """The new file in `folder`; `form` is one of `FORMS`.

    Raises:
        MedusaError: there is no such conversation, or the folder cannot be written.
    """
    name = file_name(conversations.get(db, conversation).title)
    text = FORMS[form](db, conversation)
    number = 1
    while True:
        path = folder / (f"{name}.{form}" if number == 1 else f"{name} {number}.{form}")
        try:
            with path.open("x", encoding="utf-8", errors="replace", newline="\n") as file:
                file.write(text)
        except FileExistsError:
            number += 1
        except OSError as error:
            raise MedusaError(
                f"Nothing can be saved in {folder} ({error.strerror}): free space there or use another."
            ) from error
        else:
            return path


def file_name(title: str) -> str:
    """Without an ending."""
    name = " ".join(_UNFIT.sub(" ", title).split()).strip(". ")
    name = name.encode("utf-8", "replace")[:_NAME_BYTES].decode("utf-8", "ignore").strip(". ")
    return f"_{name}" if _TAKEN.match(name) else name or "conversation"
