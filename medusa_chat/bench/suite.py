"""Questions in Spec-Bench form: one JSON object a line with question_id, category and turns."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

from medusa_chat.bench.families import MT_BENCH
from medusa_chat.engine.errors import MedusaError


@dataclass(frozen=True, slots=True)
class Question:
    id: int
    category: str
    turns: tuple[str, ...]
    """What the user says, one after the other; at least one."""

    def first_turn(self) -> Question:
        """The same question without what follows on its first answer."""
        return replace(self, turns=self.turns[:1])


def load_suite(path: Path) -> list[Question]:
    """All questions of a file, in its order.

    Raises:
        MedusaError: the file cannot be read, or a line is not a question.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise MedusaError(f"The suite {path} cannot be read: {error}.") from error
    questions = [_question(path, number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    if not questions:
        raise MedusaError(f"The suite {path} holds no question.")
    return questions


def choose(questions: list[Question], categories: Collection[str] = (), limit: int | None = None) -> list[Question]:
    """Those of the categories, at most `limit`, spread evenly over the categories; order is kept.

    Without categories: MT-bench's where the suite has any of them, else all.

    Raises:
        MedusaError: the suite lacks a category.
    """
    known = list(dict.fromkeys(question.category for question in questions))
    missing = [category for category in categories if category not in known]
    if missing:
        raise MedusaError(f"The suite has no category {', '.join(missing)}; it has {', '.join(known)}.")
    wanted = categories or [category for category in MT_BENCH if category in known] or known
    chosen = [question for question in questions if question.category in wanted]
    if limit is None or limit >= len(chosen):
        return chosen
    by_category = [[question for question in chosen if question.category == category] for category in wanted]
    rounds = [question for row in zip_longest(*by_category) for question in row if question is not None]
    kept = {id(question) for question in rounds[:limit]}
    return [question for question in chosen if id(question) in kept]


def _question(path: Path, number: int, line: str) -> Question:
    try:
        raw = json.loads(line)
        turns = raw["turns"]
        if not (isinstance(turns, list) and turns and all(isinstance(turn, str) and turn.strip() for turn in turns)):
            raise TypeError
        return Question(int(raw["question_id"]), str(raw["category"]), tuple(turns))
    except (ValueError, KeyError, TypeError) as error:
        raise MedusaError(
            f"Line {number} of {path} is not a question of the form "
            '{"question_id": 1, "category": "...", "turns": ["..."]}.'
        ) from error
