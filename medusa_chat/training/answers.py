"""The training data on disk: one answer of the backbone per JSONL row, as exact token ids.

A row is `{"prompt_ids": [...], "answer_ids": [...], "sampled": bool}`: the prompt with the chat template applied (it
ends where the assistant begins to speak), the answer with its end token when the backbone ended it. Ids, not text,
because re-tokenising an answer may cut it into other tokens than the backbone chose.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from medusa_chat.engine.errors import MedusaError


@dataclass(frozen=True, slots=True)
class Answer:
    """What the backbone said to one rendered prompt."""

    prompt_ids: tuple[int, ...]
    answer_ids: tuple[int, ...]
    sampled: bool = False
    """Drawn at a temperature; False is greedy."""

    def to_json(self) -> str:
        return json.dumps(
            {"prompt_ids": self.prompt_ids, "answer_ids": self.answer_ids, "sampled": self.sampled},
            separators=(",", ":"),
        )


def read_answers(path: Path, *, unfinished: bool = False) -> list[Answer]:
    """All rows of a file; rows without a prompt or an answer carry nothing to learn and are left out.

    Args:
        unfinished: the file may still be being written (or its writer was killed): a broken last line is passed over.

    Raises:
        MedusaError: the file cannot be read, or a row is not of this form.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise MedusaError(f"{path} cannot be read as a file of answers ({error}).") from error
    answers = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            answers.append(_parse(line))
        except (ValueError, KeyError, TypeError) as error:
            if unfinished and number == len(lines):
                continue
            raise MedusaError(
                f"{path}, line {number}, is not an answer: each line needs prompt_ids and answer_ids as lists of token ids."
            ) from error
    return [answer for answer in answers if answer.prompt_ids and answer.answer_ids]


def read_all(paths: Iterable[Path]) -> list[Answer]:
    """The rows of several files, in order, each (prompt, answer) pair once."""
    seen: dict[tuple[tuple[int, ...], tuple[int, ...]], Answer] = {}
    for path in paths:
        for answer in read_answers(path, unfinished=True):
            seen.setdefault((answer.prompt_ids, answer.answer_ids), answer)
    if not seen:
        raise MedusaError("The given files hold no answers; make some with medusa-chat distill.")
    return list(seen.values())


def held_out(answer: Answer, share: float) -> bool:
    """Whether a conversation belongs to the share that is never trained on.

    Decided by the prompt alone, so that all answers to one prompt, in every file and every run, fall on one side.
    """
    digest = blake2b(json.dumps(answer.prompt_ids).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64 < share


def check_ids(answers: Sequence[Answer], vocab_size: int) -> None:
    """Refuse data of another model.

    Raises:
        MedusaError: a token id lies outside the backbone's vocabulary.
    """
    for answer in answers:
        for ids in (answer.prompt_ids, answer.answer_ids):
            if not 0 <= min(ids) <= max(ids) < vocab_size:
                raise MedusaError(
                    f"The answers hold token {max(ids)}, but the backbone knows only {vocab_size} tokens; "
                    "they were made by another model."
                )


def _parse(line: str) -> Answer:
    row = json.loads(line)
    prompt, answer = row["prompt_ids"], row["answer_ids"]
    if not all(type(token) is int for token in (*prompt, *answer)):
        raise TypeError("token ids must be whole numbers")
    return Answer(tuple(prompt), tuple(answer), bool(row.get("sampled", False)))
