"""The training data on disk: one conversation with the backbone per JSONL row, as exact token ids.

A row is `{"ids": [...], "answers": [[start, end], ...], "sampled": bool}`: the whole conversation with the chat template
applied, and which of its tokens the backbone itself wrote: the label mask, as spans; `end` is exclusive and lies behind
the end token where the backbone ended the answer. Ids, not text, because re-tokenising an answer may cut it into other
tokens than the backbone chose, and spans, because the same answer may stand in a conversation twice. Rows of a single
answer may be spelled `{"prompt_ids": [...], "answer_ids": [...]}` instead.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from medusa_chat.engine.errors import MedusaError

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Conversation:
    """What was said, and which of it is the backbone's."""

    ids: tuple[int, ...]
    answers: tuple[Span, ...]
    """(start, end) of each answer, rising, none empty, each behind at least one other token."""
    sampled: bool = False
    """Drawn at a temperature; False is greedy."""

    @classmethod
    def single(cls, prompt_ids: Sequence[int], answer_ids: Sequence[int], sampled: bool = False) -> Conversation:
        """One prompt and one answer to it."""
        ids = (*prompt_ids, *answer_ids)
        return cls(ids, ((len(prompt_ids), len(ids)),) if answer_ids else (), sampled)

    @property
    def opening(self) -> tuple[int, ...]:
        """The prompt of the first answer."""
        return self.ids[: self.answers[0][0]] if self.answers else self.ids

    @property
    def answer_tokens(self) -> int:
        return sum(end - start for start, end in self.answers)

    def left(self) -> list[int]:
        """For every token as a root: how many tokens of its answer follow it; 0 where no step could begin.

        The token before an answer is its first root, its last token no root any more. The first token of all is none:
        no hidden state stands before it.
        """
        counts = [0] * len(self.ids)
        for start, end in self.answers:
            for place in range(max(start - 1, 1), end - 1):
                counts[place] = end - 1 - place
        return counts

    def to_json(self) -> str:
        return json.dumps({"ids": self.ids, "answers": self.answers, "sampled": self.sampled}, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Data:
    """What several files hold together."""

    conversations: tuple[Conversation, ...]
    passed_over: int
    """Rows without an answer: nothing could be learned from them."""

    @property
    def answer_tokens(self) -> int:
        return sum(conversation.answer_tokens for conversation in self.conversations)


def read_rows(path: Path, *, unfinished: bool = False) -> list[Conversation]:
    """All rows of a file, also those without an answer.

    Args:
        unfinished: the file may still be being written (or its writer was killed): a broken last line is passed over.

    Raises:
        MedusaError: the file cannot be read, or a row is not of this form.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise MedusaError(f"{path} cannot be read as a file of answers ({error}).") from error
    rows = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            rows.append(_parse(json.loads(line)))
        except (ValueError, KeyError, TypeError) as error:
            if unfinished and number == len(lines):
                continue
            raise MedusaError(
                f"{path}, line {number}, is no conversation: each line needs ids and answers (spans of ids), or "
                "prompt_ids and answer_ids, as whole numbers."
            ) from error
    return rows


def read_all(paths: Iterable[Path]) -> Data:
    """The rows of several files, in order, each conversation once.

    Raises:
        MedusaError: see `read_rows`; or there is not one answer.
    """
    seen: dict[tuple[tuple[int, ...], tuple[Span, ...]], Conversation] = {}
    passed_over = 0
    for path in paths:
        for row in read_rows(path, unfinished=True):
            if row.answers:
                seen.setdefault((row.ids, row.answers), row)
            else:
                passed_over += 1
    if not seen:
        raise MedusaError("The given files hold no answers; make some with medusa-chat distill.")
    return Data(tuple(seen.values()), passed_over)


def cut(conversation: Conversation, length: int) -> Conversation | None:
    """The first `length` tokens; an answer cut in two keeps its first part. None where no answer token is left."""
    if len(conversation.ids) <= length:
        return conversation
    spans = tuple((start, min(end, length)) for start, end in conversation.answers if start < length)
    return Conversation(conversation.ids[:length], spans, conversation.sampled) if spans else None


def held_out(conversation: Conversation, share: float) -> bool:
    """Whether a conversation belongs to the share that is never trained on.

    Decided by the first prompt alone, so that all answers to it, in every file and every run, fall on one side.
    """
    digest = blake2b(json.dumps(conversation.opening).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64 < share


def check_ids(conversations: Sequence[Conversation], vocab_size: int) -> None:
    """Refuse data of another model.

    Raises:
        MedusaError: a token id lies outside the backbone's vocabulary.
    """
    for conversation in conversations:
        if not 0 <= min(conversation.ids) <= max(conversation.ids) < vocab_size:
            raise MedusaError(
                f"The answers hold token {max(conversation.ids)}, but the backbone knows only {vocab_size} tokens; "
                "they were made by another model."
            )


def _parse(row: Any) -> Conversation:
    sampled = bool(row.get("sampled", False)) if isinstance(row, dict) else False
    if isinstance(row, dict) and "ids" in row:
        ids = tuple(_whole(row["ids"]))
        spans = tuple((start, end) for start, end in (_whole(span) for span in row["answers"]))
        return Conversation(ids, _checked(spans, len(ids)), sampled)
    prompt, answer = _whole(row["prompt_ids"]), _whole(row["answer_ids"])
    return Conversation.single(prompt, answer if prompt else (), sampled)


def _whole(values: Any) -> list[int]:
    if not isinstance(values, list) or not all(type(value) is int for value in values):
        raise TypeError("token ids and places must be whole numbers")
    return values


def _checked(spans: tuple[Span, ...], length: int) -> tuple[Span, ...]:
    """Empty answers say nothing and are dropped."""
    behind = 1
    for start, end in spans:
        if not behind <= start <= end <= length:
            raise ValueError("answers must rise, lie inside the conversation and follow a token")
        behind = max(behind, end)
    return tuple(span for span in spans if span[0] < span[1])
