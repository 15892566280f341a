"""Prompts for self-distillation, read from the shapes people have them in.

A text file holds one prompt a line. JSON Lines (or one JSON list) hold rows of any of these shapes:
`{"prompt": "..."}`; `{"turns": ["...", ...]}` (Spec-Bench); `{"conversations": [{"from": "human", "value": "..."}, ...]}`
(ShareGPT); `{"messages": [{"role": "user", "content": "..."}, ...]}` (OpenAI); `{"instruction": "...", "input": "..."}`
(Alpaca). Only what the person says is taken, and the system prompt: the answers are to be the backbone's own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medusa_chat.engine.errors import MedusaError

_USER = frozenset({"human", "user", "prompter"})


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a person says in one conversation, turn by turn; never empty."""

    turns: tuple[str, ...]
    system: str = ""


def read_prompts(path: Path) -> list[Prompt]:
    """All prompts of a file, in order.

    Raises:
        MedusaError: the file cannot be read, holds no prompt, or a row is of no known shape.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise MedusaError(f"{path} cannot be read as a file of prompts ({error}).") from error
    prompts = list(_of_json(path, text) if path.suffix.lower() in (".json", ".jsonl") else _of_lines(text))
    if not prompts:
        raise MedusaError(f"{path} holds no prompts.")
    return prompts


def _of_lines(text: str) -> Iterator[Prompt]:
    return (Prompt((line.strip(),)) for line in text.split("\n") if line.strip())


def _of_json(path: Path, text: str) -> Iterator[Prompt]:
    return (_of_row(f"{path}, {place}", row) for place, row in _rows(path, text))


def _of_row(place: str, row: Any) -> Prompt:
    try:
        return _prompt(row)
    except (KeyError, TypeError, ValueError) as error:
        raise MedusaError(
            f'{place}, is not a prompt: each row needs {{"prompt": "..."}}, or turns, messages, conversations or an '
            "instruction, none of them empty."
        ) from error


def _rows(path: Path, text: str) -> Iterator[tuple[str, Any]]:
    if text.lstrip().startswith("["):
        try:
            rows = json.loads(text)
        except ValueError as error:
            raise MedusaError(f"{path} begins as a JSON list but is none ({error}).") from error
        yield from ((f"row {number}", row) for number, row in enumerate(rows, 1))
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield f"line {number}", json.loads(line)
            except ValueError:
                yield f"line {number}", None


def _prompt(row: Any) -> Prompt:
    if not isinstance(row, Mapping):
        raise TypeError("a row is an object")
    if "prompt" in row:
        return _checked([row["prompt"]])
    if "turns" in row:
        return _checked(row["turns"])
    if "conversations" in row:
        return _spoken([(said["from"], said["value"]) for said in row["conversations"]])
    if "messages" in row:
        return _spoken([(said["role"], said["content"]) for said in row["messages"]])
    instruction, given = row["instruction"], row.get("input") or ""
    return _checked([f"{instruction}\n\n{given}" if given.strip() else instruction])


def _spoken(said: Sequence[tuple[str, str]]) -> Prompt:
    system = next((text for role, text in said if role == "system"), "")
    return _checked([text for role, text in said if role in _USER], system)


def _checked(turns: Any, system: str = "") -> Prompt:
    if isinstance(turns, str) or not all(isinstance(turn, str) for turn in turns):
        raise TypeError("turns are texts")
    kept = tuple(turn.strip() for turn in turns if turn.strip())
    if not kept:
        raise ValueError("nothing was said")
    return Prompt(kept, system.strip())
