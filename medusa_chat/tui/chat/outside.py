"""A question written in the person's own editor."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from medusa_chat.engine.errors import MedusaError

_USUAL = ("nano", "vi", "notepad")
_KEPT = "your question stays as it was."


def edited_outside(text: str) -> str:
    """The text as the editor left it; returns when the editor has ended.

    Raises:
        MedusaError: there is no editor, it failed, or nothing came back.
    """
    command = _editor()
    with tempfile.TemporaryDirectory(prefix="medusa-chat-") as folder:
        path = Path(folder) / "question.md"
        path.write_text(text, encoding="utf-8", errors="replace")
        try:
            code = subprocess.run([*command, str(path)], check=False).returncode
            written = path.read_text(encoding="utf-8")
        except FileNotFoundError as error:
            raise MedusaError(
                f"The editor {command[0]} is not here: set VISUAL or EDITOR to one that is; {_KEPT}"
            ) from error
        except (OSError, UnicodeDecodeError) as error:
            raise MedusaError(f"The editor {command[0]} left nothing readable ({error}); {_KEPT}") from error
    if code:
        raise MedusaError(f"The editor {command[0]} ended with code {code}; {_KEPT}")
    if not written.strip():
        raise MedusaError(f"The editor {command[0]} gave nothing back; {_KEPT}")
    return written.removesuffix("\n")


def _editor() -> list[str]:
    """VISUAL, EDITOR, or what most systems have."""
    wanted = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not wanted or not wanted.strip():
        found = next((name for name in _USUAL if shutil.which(name)), None)
        if found is None:
            raise MedusaError(f"No editor is known: set VISUAL or EDITOR to the one you like; {_KEPT}")
        return [found]
    try:
        return shlex.split(wanted)
    except ValueError as error:
        raise MedusaError(f"VISUAL or EDITOR is {wanted!r}, which is no command ({error}); {_KEPT}") from error
