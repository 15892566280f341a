"""The run itself: every question to every contestant in turn, so that a slow minute of the machine hits all alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from medusa_chat.bench.differences import Parting
from medusa_chat.bench.figures import BASELINE
from medusa_chat.bench.suite import Question
from medusa_chat.bench.timed import Contestant, Sample, Timed

WARM_UP_TOKENS = 8

Tokens = Sequence[int]
Prompt = Callable[[Question, Sequence[Tokens]], Tokens]
"""(question, the answers so far) -> token ids of the conversation up to the next answer."""
Examine = Callable[[Tokens, Tokens, Tokens], Parting | None]
"""(prompt, plain's answer, another answer) -> where they part; called between questions, outside every clock."""


@dataclass(frozen=True, slots=True)
class _Turn:
    prompt: Tokens
    answer: Timed


def order(contestants: Sequence[Contestant], question: int) -> list[Contestant]:
    """That for the `question`-th question (from 0): everyone comes first and last equally often."""
    start = question // 2 % len(contestants)
    rotated = [*contestants[start:], *contestants[:start]]
    return rotated[::-1] if question % 2 else rotated


def measure(
    contestants: Sequence[Contestant],
    questions: Sequence[Question],
    max_tokens: int,
    prompt: Prompt,
    examine: Examine,
) -> Iterator[tuple[Sample, ...]]:
    """For each question one sample a turn, after a warm-up that is not counted.

    All turns of a question are one conversation: a contestant answers each with its own answers before it, and the
    next contestant begins when the last turn is answered.
    """
    if questions:
        for contestant in contestants:
            contestant.answer(prompt(questions[0], ()), min(WARM_UP_TOKENS, max_tokens))
    for index, question in enumerate(questions):
        talks = {
            contestant.name: _talk(contestant, question, max_tokens, prompt) for contestant in order(contestants, index)
        }
        yield tuple(
            _sample(question, turn, {one.name: talks[one.name][turn] for one in contestants}, examine)
            for turn in range(len(question.turns))
        )


def _talk(contestant: Contestant, question: Question, max_tokens: int, prompt: Prompt) -> list[_Turn]:
    turns: list[_Turn] = []
    for _ in question.turns:
        asked = prompt(question, [turn.answer.tokens for turn in turns])
        turns.append(_Turn(asked, contestant.answer(asked, max_tokens)))
    return turns


def _sample(question: Question, turn: int, turns: dict[str, _Turn], examine: Examine) -> Sample:
    answers = {name: one.answer for name, one in turns.items()}
    return Sample(question.id, question.category, answers, _partings(turns, examine), turn + 1)


def _partings(turns: dict[str, _Turn], examine: Examine) -> dict[str, Parting]:
    """Those asked the same as plain decoding; after an answer of another kind the next one says nothing new."""
    plain = turns.get(BASELINE)
    if plain is None:
        return {}
    found = {
        name: examine(plain.prompt, plain.answer.tokens, turn.answer.tokens)
        for name, turn in turns.items()
        if list(turn.prompt) == list(plain.prompt)
    }
    return {name: parting for name, parting in found.items() if parting is not None}
