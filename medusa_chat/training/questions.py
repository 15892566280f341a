"""Prompts without data: the model writes a person's turns itself, and what is no use is left out.

A chat model asked to go on where its template opens a person's turn writes one (Magpie, arXiv 2406.08464). What it
writes is drawn at a temperature; the filters below take out what would teach heads little.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

SHORTEST = 12
LONGEST = 1_500
"""Characters of a turn worth answering."""
_WORDS_ALIKE = 8


@dataclass(slots=True)
class Questions:
    """Remembers what was asked before; counts what was left out, by reason."""

    left_out: Counter[str] = field(default_factory=Counter)
    _seen: set[str] = field(default_factory=set)

    def take(self, text: str, ended: bool) -> str | None:
        """The turn, cleaned, or None where it is left out.

        Args:
            ended: the model ended it itself.
        """
        text = text.strip()
        reason = None if ended else "unfinished"
        reason = reason or _worthless(text)
        key = _gist(text)
        if reason is None and key in self._seen:
            reason = "asked before"
        if reason is not None:
            self.left_out[reason] += 1
            return None
        self._seen.add(key)
        return text

    def know(self, text: str) -> None:
        """Asked in an earlier run."""
        self._seen.add(_gist(text))


def _worthless(text: str) -> str | None:
    if len(text) < SHORTEST:
        return "too short"
    if len(text) > LONGEST:
        return "too long"
    if not text.isprintable() and any(not char.isprintable() and char not in "\n\t" for char in text):
        return "unreadable"
    return "repeats itself" if repetitive(text) else None


def repetitive(text: str) -> bool:
    """Whether less than half of its runs of four words are new, or one line stands there three times."""
    words = text.split()
    runs = [tuple(words[place : place + 4]) for place in range(len(words) - 3)]
    lines = Counter(line.strip() for line in text.split("\n") if len(line.strip()) > 3)
    return (len(runs) > 3 and len(set(runs)) < len(runs) / 2) or any(count > 2 for count in lines.values())


def _gist(text: str) -> str:
    """The first words, spelled alike: two turns that begin the same ask the same."""
    return " ".join(re.findall(r"\w+", text.casefold())[:_WORDS_ALIKE])
