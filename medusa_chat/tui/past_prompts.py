"""Prompts asked before: walked through like pages, kept in a file of JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

MOST = 1000
_MOST_BYTES = 16_000_000


class PastPrompts:
    """Oldest first, none twice. Walking back keeps what was being typed, and every change made on the way."""

    def __init__(self, prompts: Iterable[str] = ()) -> None:
        self.prompts: list[str] = []
        self._pages: list[str] | None = None
        self._place = 0
        for prompt in prompts:
            self._take(prompt)

    def add(self, prompt: str) -> None:
        """It has been asked; the next walk begins with it."""
        self._take(prompt)
        self._pages = None

    def back(self, typed: str) -> str | None:
        """The prompt before what is shown now; None at the oldest."""
        if self._pages is None:
            if not self.prompts:
                return None
            self._pages, self._place = [*self.prompts, typed], len(self.prompts)
        return self._turn(typed, -1)

    def forward(self, typed: str) -> str | None:
        """The prompt after what is shown now, at last what was being typed; None beyond that."""
        return None if self._pages is None else self._turn(typed, 1)

    def _turn(self, typed: str, by: int) -> str | None:
        assert self._pages is not None
        if not 0 <= self._place + by < len(self._pages):
            return None
        self._pages[self._place] = typed
        self._place += by
        return self._pages[self._place]

    def _take(self, prompt: str) -> None:
        if prompt in self.prompts:
            self.prompts.remove(prompt)
        self.prompts.append(prompt)
        del self.prompts[:-MOST]


def read_prompts(path: Path) -> list[str]:
    """Oldest first; lines that are no prompts are passed over, a file that is not there is empty.

    Raises:
        OSError: it cannot be read.
    """
    if not path.exists():
        return []
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _MOST_BYTES))
        lines = file.read().split(b"\n")
    return [prompt for prompt in map(_prompt, lines) if prompt is not None]


def append_prompt(path: Path, prompt: str, known: Iterable[str]) -> None:
    """Add a line; once the file has twice as many as are kept, it is written anew with the `known` ones.

    Raises:
        OSError: it cannot be written.
    """
    with path.open("ab") as file:
        file.write(_line(prompt))
    with path.open("rb") as file:
        lines = sum(1 for _ in file)
    if lines > 2 * MOST:
        fresh = path.with_suffix(".new")
        fresh.write_bytes(b"".join(map(_line, known)))
        fresh.replace(path)


def _line(prompt: str) -> bytes:
    """Half of a surrogate pair is no text any file can hold, but JSON can spell it."""
    return json.dumps({"prompt": prompt}).encode("ascii") + b"\n"


def _prompt(line: bytes) -> str | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    prompt = entry.get("prompt") if isinstance(entry, dict) else None
    return prompt if isinstance(prompt, str) and prompt.strip() else None
