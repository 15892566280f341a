"""What the scribe has to write, one entry each. What an entry is about may itself be waiting to be written before it;
so places and ids are asked for when its turn comes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from medusa_chat.chats import conversations, messages
from medusa_chat.chats.columns import Columns
from medusa_chat.chats.database import Database
from medusa_chat.chats.records import State

MessageId = Callable[[], int | None]
"""The id of a message by the time it is needed; None for none."""


def nowhere() -> None:
    """At the beginning of a conversation."""


@dataclass(slots=True)
class Place:
    """The conversation that is written; None as long as it is not on the disk."""

    conversation: int | None = None
    system: str = ""
    """The system prompt it begins with."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How an answer ended and what is kept beside its text."""

    state: State
    settings: dict[str, Any]
    statistics: dict[str, Any]
    trace: Columns | None = None


class Entry(Protocol):
    @property
    def done(self) -> bool:
        """Nothing more will come."""

    def write(self, db: Database) -> None:
        """All of it or nothing: memory follows only after the disk."""


@dataclass(eq=False, slots=True)
class Draft:
    """A question below `above`, and its growing answer; without words, a further answer to the question `above`."""

    place: Place
    question: str | None
    above: MessageId
    tell: Callable[[int, int], None]
    answer: int | None = None
    unwritten: list[str] = field(default_factory=list)
    ending: Ending | None = None

    @property
    def done(self) -> bool:
        return self.ending is not None

    def write(self, db: Database) -> None:
        text = "".join(self.unwritten)
        if self.answer is not None and not text and self.ending is None:
            return
        conversation, question, answer = self.place.conversation, None, self.answer
        with db.transaction():
            if answer is None:
                conversation, question, answer = self._begin(db)
            if text:
                messages.append_text(db, answer, text)
            if (ending := self.ending) is not None:
                messages.finish(db, answer, ending.state, ending.settings, ending.statistics, ending.trace)
        self.place.conversation, self.answer, self.unwritten = conversation, answer, []
        if question is not None:
            self.tell(question, answer)

    def _begin(self, db: Database) -> tuple[int, int, int]:
        conversation, question = self.place.conversation, self.above()
        if conversation is None:
            conversation = conversations.create(db, self.place.system)
        if self.question is not None:
            question = messages.add(db, conversation, question, "user", self.question)
        answer = messages.add(db, conversation, question, "assistant", "", "unfinished")
        return conversation, question or 0, answer


@dataclass(frozen=True, eq=False, slots=True)
class Choice:
    """The branch that is shown from now on, by its last message."""

    leaf: MessageId
    done: bool = True

    def write(self, db: Database) -> None:
        if (leaf := self.leaf()) is not None:
            messages.choose(db, leaf)


@dataclass(frozen=True, eq=False, slots=True)
class Instruction:
    """Another system prompt."""

    place: Place
    text: str
    done: bool = True

    def write(self, db: Database) -> None:
        if self.place.conversation is not None:
            conversations.set_system(db, self.place.conversation, self.text)
        self.place.system = self.text
