"""Fixed lists of questions, so that figures of different days and machines are about the same ones."""

from __future__ import annotations

from collections.abc import Sequence

from medusa_chat.bench.suite import Question
from medusa_chat.engine.errors import MedusaError

SIXTY = tuple(range(81, 561, 8))
"""Question ids: every eighth of Spec-Bench's 480 (81 to 560), so ten of each family's 80, at least one of each of
MT-bench's categories among them."""

SELECTIONS = ("60", "all")


def select(questions: Sequence[Question], selection: str) -> list[Question]:
    """The questions of a selection, in the suite's order: "60" for those of `SIXTY`, "all" for all.

    Raises:
        MedusaError: the suite lacks questions of the list.
    """
    if selection == "all":
        return list(questions)
    missing = sorted(set(SIXTY) - {question.id for question in questions})
    if missing:
        raise MedusaError(
            f"The selection {selection} is a list of Spec-Bench's questions, and the suite lacks {len(missing)} of "
            f"them, such as {missing[0]}; choose by --categories or --limit instead."
        )
    return [question for question in questions if question.id in SIXTY]
