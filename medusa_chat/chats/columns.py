"""A step trace as it is written, column by column, while its steps come (see `chats.trace` for the form)."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from typing import Any, TypeVar

from medusa_chat.chats.trace import Believed, Rejected, TraceStep

T = TypeVar("T")

_BY_STEP = ("nodes", "parents", "scores", "from", "paths", "kept", "texts", "ms", "plain_ms", "rejected", "beliefs")


class Columns:
    """Each step is taken apart when it comes: at the end of an answer hundreds of them at once would hold up the screen."""

    def __init__(self, steps: Iterable[TraceStep] = ()) -> None:
        self._vocabulary: dict[tuple[int, str], int] = {}
        self._sources: dict[str, int] = {}
        self._favourites: dict[str, int] = {}
        self._columns: dict[str, list[Any]] = {name: [] for name in _BY_STEP}
        self.extend(steps)

    def __len__(self) -> int:
        """Steps."""
        return len(self._columns["texts"])

    def extend(self, steps: Iterable[TraceStep]) -> None:
        for step in steps:
            for name, entry in self._entries(step).items():
                self._columns[name].append(entry)

    def as_json(self) -> dict[str, Any]:
        """As JSON has it; shares its lists with this."""
        return {
            **self._columns,
            "favourites": list(self._favourites),
            "vocabulary": list(self._vocabulary),
            "sources": list(self._sources),
        }

    def _entries(self, step: TraceStep) -> dict[str, Any]:
        return {
            "nodes": [_number(self._vocabulary, node) for node in step.nodes],
            "parents": step.parents,
            "scores": [_rounded(score) for score in step.scores],
            "from": [_number(self._sources, source) for source in step.sources],
            "paths": step.path,
            "kept": step.kept,
            "texts": step.text,
            "ms": [_rounded(ms) for ms in step.ms],
            "plain_ms": None if step.plain_ms is None else _rounded(step.plain_ms),
            "rejected": [_rejected_row(each) for each in step.rejected],
            "beliefs": _belief_row(step.beliefs, self._favourites),
        }


def pack(columns: Columns) -> bytes:
    """As it lies on the disk."""
    return zlib.compress(json.dumps(columns.as_json(), separators=(",", ":")).encode(), 9)


def _rejected_row(each: Rejected) -> list[float | None]:
    numbers = (each.probability, each.needed, each.entropy)
    return [each.node, *(None if number is None else _rounded(number) for number in numbers)]


def _belief_row(beliefs: Believed | None, favourites: dict[str, int]) -> list[list[float]] | None:
    if beliefs is None:
        return None
    return [
        [round(chance, 4) for chance in beliefs.probabilities],
        [round(entropy, 2) for entropy in beliefs.entropies],
        [_number(favourites, text) for text in beliefs.favourites],
        [round(chance, 3) for chance in beliefs.certainties],
    ]


def _number(known: dict[T, int], value: T) -> int:
    """Its place among the values seen so far; a new one comes last."""
    return known.setdefault(value, len(known))


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")
