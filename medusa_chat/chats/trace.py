"""The steps of an answer, kept small: a thousand tokens take some tens of kilobytes.

On disk and in exported files a trace is stored by columns, one list entry a step, and every token of a tree
is spelled once: "nodes" holds numbers of entries of "vocabulary", a list of [token, text]. On disk that is compressed
JSON. Scores and times keep four significant digits, what the backbone believed two to four decimals. Traces from before there were beliefs have no "beliefs" and no "favourites".
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from medusa_chat.engine.errors import MedusaError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Rejected:
    """A guess that was looked at and fell, and the numbers that decided it."""

    node: int
    probability: float
    needed: float | None = None
    entropy: float | None = None


@dataclass(frozen=True, slots=True)
class Believed:
    """What the backbone held of the tree, one entry a node."""

    probabilities: tuple[float, ...]
    """Of the node's token, at its parent."""
    entropies: tuple[float, ...]
    """In nats, after the node."""
    favourites: tuple[str, ...]
    """Text of the likeliest token after the node."""
    certainties: tuple[float, ...]
    """Its probability."""


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One step: its candidate tree (n nodes, root first), the path kept, the tokens won."""

    nodes: tuple[tuple[int, str], ...]
    """(token, its text), n of them."""
    parents: tuple[int, ...]
    scores: tuple[float, ...]
    sources: tuple[str, ...]
    path: tuple[int, ...]
    kept: tuple[int, ...]
    """The tokens the step yields; the last of them is the root of the next step."""
    text: str
    ms: tuple[float, ...]
    """Milliseconds of drafting, verifying, accepting, committing, and making text."""
    plain_ms: float | None = None
    rejected: tuple[Rejected, ...] = ()
    beliefs: Believed | None = None


def unpack(packed: bytes) -> list[TraceStep]:
    """
    Raises:
        MedusaError: this is no trace.
    """
    try:
        return from_columns(json.loads(zlib.decompress(packed)))
    except (zlib.error, ValueError, TypeError) as error:
        raise MedusaError("The step trace of this answer is damaged; its text is not: read on without it.") from error


def from_columns(columns: Any) -> list[TraceStep]:
    """What `Columns.as_json` gave.

    Raises:
        ValueError: anything else; nothing is believed unchecked.
    """
    if not isinstance(columns, dict):
        raise ValueError("a trace is not an object")
    vocabulary = [_vocabulary_entry(entry) for entry in _list(columns, "vocabulary")]
    sources = [_as(str, name) for name in _list(columns, "sources")]
    favourites = _each(columns.get("favourites", []), lambda text: _as(str, text))
    names = ("nodes", "parents", "scores", "from", "paths", "kept", "texts", "ms", "plain_ms", "rejected")
    table = [_list(columns, name) for name in names]
    beliefs = [_believed(row, favourites) for row in _as(list, columns.get("beliefs", [None] * len(table[0])))]
    table.append(beliefs)
    if len({len(column) for column in table}) != 1:
        raise ValueError("the columns of a trace differ in length")
    return [_step(row, vocabulary, sources) for row in zip(*table, strict=True)]


def _step(row: tuple[Any, ...], vocabulary: list[tuple[int, str]], sources: list[str]) -> TraceStep:
    nodes, parents, scores, origins, path, kept, text, ms, plain_ms, rejected, beliefs = row
    step = TraceStep(
        nodes=_each(nodes, lambda entry: _pick(vocabulary, entry)),
        parents=_each(parents, lambda parent: _as(int, parent)),
        scores=_each(scores, _float),
        sources=_each(origins, lambda entry: _pick(sources, entry)),
        path=_each(path, lambda node: _as(int, node)),
        kept=_each(kept, lambda token: _as(int, token)),
        text=_as(str, text),
        ms=_each(ms, _float),
        plain_ms=None if plain_ms is None else _float(plain_ms),
        rejected=_each(rejected, _rejected_of),
        beliefs=beliefs,
    )
    _check_shape(step)
    return step


def _check_shape(step: TraceStep) -> None:
    count = len(step.nodes)
    if not len(step.parents) == len(step.scores) == len(step.sources) == count:
        raise ValueError("the columns of a tree differ in length")
    if not count or len(step.ms) != 5:
        raise ValueError("a step has no tree or no times")
    if step.beliefs is not None and any(len(getattr(step.beliefs, name)) != count for name in Believed.__slots__):
        raise ValueError("beliefs are of another tree")
    if any(not (parent < node and (parent >= 0 or node == 0)) for node, parent in enumerate(step.parents)):
        raise ValueError("a parent does not stand before its child")
    if any(not 0 <= node < count for node in (*step.path, *(each.node for each in step.rejected))):
        raise ValueError("a path leaves its tree")


def _rejected_of(row: Any) -> Rejected:
    node, probability, needed, entropy = _as(list, row)
    return Rejected(
        _as(int, node),
        _float(probability),
        None if needed is None else _float(needed),
        None if entropy is None else _float(entropy),
    )


def _believed(row: Any, favourites: Sequence[str]) -> Believed | None:
    if row is None:
        return None
    probabilities, entropies, texts, certainties = _as(list, row)
    return Believed(
        _each(probabilities, _float),
        _each(entropies, _float),
        _each(texts, lambda entry: _pick(favourites, entry)),
        _each(certainties, _float),
    )


def _vocabulary_entry(entry: Any) -> tuple[int, str]:
    token, text = _as(list, entry)
    return _as(int, token), _as(str, text)


def _list(columns: dict[str, Any], name: str) -> list[Any]:
    return _as(list, columns.get(name))


def _each(values: Any, read: Callable[[Any], T]) -> tuple[T, ...]:
    return tuple(read(value) for value in _as(list, values))


def _pick(entries: Sequence[T], number: Any) -> T:
    place = _as(int, number)
    if not 0 <= place < len(entries):
        raise ValueError(f"there is no entry {place}")
    return entries[place]


def _as(kind: type[T], value: object) -> T:
    """A bool is an int to Python but not here."""
    if isinstance(value, kind) and not isinstance(value, bool):
        return value
    raise ValueError(f"{value!r} is no {kind.__name__}")


def _float(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{value!r} is no number")
    try:
        return float(value)
    except OverflowError as error:
        raise ValueError("a number is too large") from error
