"""Who answers when, and with which conversation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from medusa_chat.bench.differences import Parting
from medusa_chat.bench.runner import WARM_UP_TOKENS, measure, order
from medusa_chat.bench.suite import Question
from medusa_chat.bench.timed import Timed

Call = tuple[str, list[int], int]


@dataclass
class Recorder:
    name: str
    log: list[Call] = field(default_factory=list)
    tokens: tuple[int, ...] = (1, 2)

    def answer(self, prompt_ids: Sequence[int], max_tokens: int) -> Timed:
        self.log.append((self.name, list(prompt_ids), max_tokens))
        return Timed(self.tokens, len(self.tokens), 2, 1.0, 0.1)


def prompt(question: Question, said: Sequence[Sequence[int]]) -> list[int]:
    """The question's id, then all answers."""
    return [question.id, *(token for answer in said for token in answer)]


def examine(_prompt: Sequence[int], left: Sequence[int], right: Sequence[int]) -> Parting | None:
    return None if left == right else Parting(1, (2, 3), ("b", "c"), 0.1, False)


def test_everyone_comes_at_every_place_equally_often_and_after_everyone_else():
    names = ["a", "b", "c"]
    orders = [order(names, index) for index in range(6)]  # type: ignore[arg-type]
    assert all(sorted(one) == names for one in orders)
    assert all(set(Counter(one[place] for one in orders).values()) == {2} for place in range(3))
    assert {pair for one in orders for pair in pairwise(one)} == {
        (one, other) for one in names for other in names if one != other
    }
    assert [order(["a", "b"], index) for index in range(2)] == [["a", "b"], ["b", "a"]]  # type: ignore[list-item]


def test_contestants_take_turns_question_by_question_after_one_warm_up():
    log: list[Call] = []
    contestants = [Recorder("plain", log), Recorder("medusa", log, tokens=(1, 3))]
    questions = [Question(number, "math", ("?",)) for number in (7, 8)]
    samples = [sample for turns in measure(contestants, questions, 30, prompt, examine) for sample in turns]
    assert log[:2] == [("plain", [7], WARM_UP_TOKENS), ("medusa", [7], WARM_UP_TOKENS)]
    assert log[2:] == [("plain", [7], 30), ("medusa", [7], 30), ("medusa", [8], 30), ("plain", [8], 30)]
    assert [list(sample.answers) for sample in samples] == [["plain", "medusa"]] * 2
    assert [list(sample.partings) for sample in samples] == [["medusa"]] * 2
    assert [(sample.question, sample.turn) for sample in samples] == [(7, 1), (8, 1)]


def test_a_conversation_goes_on_with_the_contestants_own_answers_before_the_next_one_begins():
    log: list[Call] = []
    contestants = [Recorder("plain", log), Recorder("medusa", log, tokens=(1, 3))]
    ((first, second),) = measure(contestants, [Question(7, "math", ("?", "And?"))], 30, prompt, examine)
    assert log[2:] == [
        ("plain", [7], 30),
        ("plain", [7, 1, 2], 30),
        ("medusa", [7], 30),
        ("medusa", [7, 1, 3], 30),
    ]
    assert (first.turn, second.turn) == (1, 2)
    # Asked something else, medusa may say something else: that is no difference of its own.
    assert (list(first.partings), list(second.partings)) == (["medusa"], [])


def test_without_plain_nothing_is_held_against_it():
    questions = [Question(1, "math", ("?",))]
    ((sample,),) = measure([Recorder("medusa")], questions, 5, prompt, lambda *_: 1 / 0)  # type: ignore[arg-type,return-value]
    assert sample.partings == {}


def test_no_question_is_no_work():
    log: list[Call] = []
    assert list(measure([Recorder("plain", log)], [], 5, prompt, examine)) == []
    assert log == []
