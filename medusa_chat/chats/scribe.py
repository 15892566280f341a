"""Writes a conversation down while it happens: at most once a second, and once more when an answer ends.

What could not be written (another program holds the file, the disk is full) is kept and tried again with the next
write, so a short trouble loses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from medusa_chat.chats import conversations, messages
from medusa_chat.chats.database import Database
from medusa_chat.chats.records import State
from medusa_chat.chats.trace import TraceStep

WRITE_EVERY = 1.0
"""Seconds."""


@dataclass(slots=True)
class _Place:
    """Where the next message belongs; None as long as nothing is written."""

    conversation: int | None = None
    leaf: int | None = None


@dataclass(frozen=True, slots=True)
class Ending:
    """How an answer ended and what is kept beside its text."""

    state: State
    settings: dict[str, Any]
    statistics: dict[str, Any]
    steps: Sequence[TraceStep] = ()


@dataclass(slots=True)
class _Draft:
    place: _Place
    question: str
    tell: Callable[[int, int], None]
    answer: int | None = None
    unwritten: list[str] = field(default_factory=list)
    ending: Ending | None = None


class Scribe:
    """Knows where in which conversation the person is. Every method may raise the database's MedusaError."""

    def __init__(self, db: Database, clock: Callable[[], float] = monotonic) -> None:
        self._db = db
        self._clock = clock
        self._place = _Place()
        self._drafts: list[_Draft] = []
        """Those not wholly written; the last one may be still growing."""
        self._written = float("-inf")
        self.behind = False
        """The last write failed; what it was to write waits for the next one."""

    @property
    def conversation(self) -> int | None:
        """None until the first question of a new conversation is written."""
        return self._place.conversation

    def start(self) -> None:
        """A new conversation; it is made with its first question."""
        self._place = _Place()

    def go_on(self, conversation: int) -> None:
        """Continue an earlier one at the end of its active branch."""
        branch = messages.branch(self._db, conversation)
        self._place = _Place(conversation, branch[-1].id if branch else None)

    def ask(self, question: str, tell: Callable[[int, int], None] = lambda question, answer: None) -> None:
        """Written at once, with the answer's place: what a crash leaves behind says that it is unfinished.

        `tell(question, answer)` learns the ids of the two messages as soon as they are on the disk.
        """
        self._drafts.append(_Draft(self._place, question, tell))
        self._write()

    def append(self, text: str) -> None:
        """More of the answer to the newest question."""
        if self._drafts and self._drafts[-1].ending is None:
            self._drafts[-1].unwritten.append(text)
            self.write_due()

    def write_due(self) -> None:
        """Write what waits if the last write was a second ago; call it now and then while an answer pauses."""
        if self._clock() - self._written >= WRITE_EVERY:
            self._write()

    def finish(self, ending: Ending) -> None:
        """The answer to the newest question has ended; written at once."""
        if self._drafts and self._drafts[-1].ending is None:
            self._drafts[-1].ending = ending
            self._write()

    def close(self) -> None:
        """Write what waits; an answer that was not finished stays marked so."""
        self._write()

    def _write(self) -> None:
        self._written, self.behind = self._clock(), True
        for draft in list(self._drafts):
            self._write_draft(draft)
            if draft.ending is not None:
                self._drafts.remove(draft)
        self.behind = False

    def _write_draft(self, draft: _Draft) -> None:
        """All of it or nothing: memory follows only after the disk."""
        text = "".join(draft.unwritten)
        if draft.answer is not None and not text and draft.ending is None:
            return
        with self._db.transaction():
            place, question, answer = (
                (draft.place, None, draft.answer) if draft.answer is not None else self._begin(draft)
            )
            if text:
                messages.append_text(self._db, answer, text)
            if (ending := draft.ending) is not None:
                messages.finish(self._db, answer, ending.state, ending.settings, ending.statistics, ending.steps)
        draft.place.conversation, draft.place.leaf = place.conversation, place.leaf
        draft.answer, draft.unwritten = answer, []
        if question is not None:
            draft.tell(question, answer)

    def _begin(self, draft: _Draft) -> tuple[_Place, int, int]:
        conversation, leaf = draft.place.conversation, draft.place.leaf
        if conversation is None:
            conversation = conversations.create(self._db)
        question = messages.add(self._db, conversation, leaf, "user", draft.question)
        answer = messages.add(self._db, conversation, question, "assistant", "", "unfinished")
        return _Place(conversation, answer), question, answer
