"""Kept messages as turns again, with all their branches. An imported file may hold any tree of messages."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

from medusa_chat.chats.records import Message
from medusa_chat.engine.statistics import Tally
from medusa_chat.tui.branches import Branches, Fork, Wording
from medusa_chat.tui.turn import ENDINGS, Kept, Turn

_UNFINISHED = "This answer was not finished: the program ended first."


def branches_of(messages: Sequence[Message]) -> Branches:
    """Of a whole conversation, parents before their children."""
    grown = _Growing()
    for message in messages:
        grown.add(message)
    return Branches(grown.close())


class _Growing:
    """Messages become turns one by one. A question without an answer is a turn too, as soon as it has to be one."""

    def __init__(self) -> None:
        self._first = Fork()
        self._questions: dict[int, tuple[Message, Wording]] = {}
        self._below: dict[int | None, Fork] = {None: self._first}
        """By message id, what was asked below it."""
        self._unasked: dict[int | None, Wording] = {}
        """By parent, the answers to no question."""

    def add(self, message: Message) -> None:
        asked = self._questions.get(message.parent) if message.parent is not None else None
        if message.role == "user":
            self._ask(message)
        elif asked is not None:
            self._answer(message, *asked)
        else:
            self._answer(message, None, self._without_question(message))

    def close(self) -> Fork:
        for message, wording in self._questions.values():
            if not wording.turns:
                wording.add(_unanswered(message))
        return self._first

    def _ask(self, message: Message) -> None:
        fork = self._fork_below(message.parent, message.chosen)
        chosen, wording = fork.chosen, fork.add()
        if not message.chosen:
            fork.chosen = chosen
        self._questions[message.id] = (message, wording)

    def _answer(self, message: Message, question: Message | None, wording: Wording) -> None:
        chosen = wording.chosen
        self._below[message.id] = wording.add(_past(question, message))
        if not message.chosen:
            wording.chosen = chosen

    def _without_question(self, message: Message) -> Wording:
        """Where the answers of this parent stand that answer nothing."""
        fork = self._below[message.parent]
        if message.parent not in self._unasked:
            chosen = fork.chosen
            self._unasked[message.parent] = fork.add()
            fork.chosen = chosen
        wording = self._unasked[message.parent]
        if message.chosen:
            fork.chosen = fork.wordings.index(wording)
        return wording

    def _fork_below(self, parent: int | None, chosen: bool) -> Fork:
        """Below a question that is nobody's answer yet: it counts as unanswered then, beside its answers."""
        if parent not in self._below:
            question, wording = self._questions[parent or 0]
            before = wording.chosen
            self._below[parent] = wording.add(_unanswered(question))
            wording.chosen = before
        if chosen and parent in self._questions:
            wording = self._questions[parent][1]
            wording.chosen = wording.below.index(self._below[parent])
        return self._below[parent]


def _unanswered(question: Message) -> Turn:
    return Turn.past(question.content, "", Tally(), "cancelled", None, Kept(question.id))


def _past(question: Message | None, answer: Message) -> Turn:
    kept = answer.statistics or {}
    reason = next((known for known in ENDINGS if known == kept.get("reason")), None)
    failure = kept.get("failure")
    if answer.state == "unfinished":
        failure = _UNFINISHED
    elif reason is None and failure is None:
        reason = "cancelled" if answer.state == "stopped" else "eos"
    place = Kept(None if question is None else question.id, answer.id)
    turn = Turn.past("" if question is None else question.content, answer.content, _tally(kept), reason, failure, place)
    turn.tested = int(_number(kept.get("tested")) or 0)
    turn.first_token = _number(kept.get("first_token_seconds"))
    return turn


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and isfinite(value) else None


def _tally(kept: dict[str, Any]) -> Tally:
    """An imported file may say anything here: what does not fit is as if not measured."""
    try:
        plain_ms = kept.get("plain_ms")
        return Tally(
            plain_ms=None if plain_ms is None else float(plain_ms),
            tokens=int(kept.get("tokens", 0)),
            steps=int(kept.get("steps", 0)),
            ms=float(kept.get("ms", 0.0)),
            lengths={int(length): int(count) for length, count in kept.get("lengths", {}).items()},
        )
    except (TypeError, ValueError, AttributeError, OverflowError):
        return Tally()
