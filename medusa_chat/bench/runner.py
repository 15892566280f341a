"""The run itself: every question to every contestant in turn, so that a slow minute of the machine hits all alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from medusa_chat.bench.differences import Parting
from medusa_chat.bench.figures import BASELINE
from medusa_chat.bench.suite import Question
from medusa_chat.bench.timed import Contestant, Sample, Timed

WARM_UP_TOKENS = 8

Tokens = Sequence[int]
Examine = Callable[[Tokens, Tokens, Tokens], Parting | None]
"""(prompt, plain's answer, another answer) -> where they part; called between questions, outside every clock."""


def turns(contestants: Sequence[Contestant], question: int) -> list[Contestant]:
    """The order for the `question`-th question (from 0): everyone comes first and last equally often."""
    start = question // 2 % len(contestants)
    order = [*contestants[start:], *contestants[:start]]
    return order[::-1] if question % 2 else order


def measure(
    contestants: Sequence[Contestant],
    questions: Sequence[tuple[Question, Tokens]],
    max_tokens: int,
    examine: Examine,
) -> Iterator[Sample]:
    """One sample per question (given with its prompt's token ids), after a warm-up that is not counted."""
    if questions:
        for contestant in contestants:
            contestant.answer(questions[0][1], min(WARM_UP_TOKENS, max_tokens))
    for index, (question, prompt_ids) in enumerate(questions):
        answers = {
            contestant.name: contestant.answer(prompt_ids, max_tokens) for contestant in turns(contestants, index)
        }
        yield Sample(
            question.id,
            question.category,
            {one.name: answers[one.name] for one in contestants},
            _partings(prompt_ids, answers, examine),
        )


def _partings(prompt_ids: Tokens, answers: dict[str, Timed], examine: Examine) -> dict[str, Parting]:
    if BASELINE not in answers:
        return {}
    plain = answers[BASELINE].tokens
    found = {name: examine(prompt_ids, plain, answer.tokens) for name, answer in answers.items()}
    return {name: parting for name, parting in found.items() if parting is not None}
