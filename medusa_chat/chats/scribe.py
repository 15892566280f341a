"""Writes a conversation down while it happens: at most once a second, and once more when an answer ends.

What could not be written (another program holds the file, the disk is full) is kept and tried again with the next
write, so a short trouble loses nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from medusa_chat.chats.database import Database
from medusa_chat.chats.entries import Choice, Draft, Ending, Entry, Instruction, MessageId, Place

WRITE_EVERY = 1.0
"""Seconds."""


def _nobody(question: int, answer: int) -> None:
    """Nobody wants to know the ids."""


class Scribe:
    """Knows where in which conversation the person is. Every method may raise the database's MedusaError."""

    def __init__(self, db: Database, clock: Callable[[], float] = monotonic) -> None:
        self._db = db
        self._clock = clock
        self._place = Place()
        self._waiting: list[Entry] = []
        """In the order it happened; the newest draft may be still growing."""
        self._written = float("-inf")
        self.behind = False
        """The last write failed; what it was to write waits for the next one."""

    @property
    def conversation(self) -> int | None:
        """None until the first question of a new conversation is written."""
        return self._place.conversation

    def start(self, system: str = "") -> None:
        """A new conversation; it is made with its first question."""
        self._place = Place(system=system)

    def go_on(self, conversation: int) -> None:
        """Continue an earlier one."""
        self._place = Place(conversation)

    def ask(self, question: str, above: MessageId, tell: Callable[[int, int], None] = _nobody) -> None:
        """Written at once, with the answer's place: what a crash leaves behind says that it is unfinished.

        The question stands below the message `above`, beside others that do. `tell(question, answer)` learns the ids
        of the two messages as soon as they are on the disk.
        """
        self._add(Draft(self._place, question, above, tell))

    def ask_again(self, question: MessageId, tell: Callable[[int, int], None] = _nobody) -> None:
        """A further answer to a question; the others stay."""
        self._add(Draft(self._place, None, question, tell))

    def choose(self, leaf: MessageId) -> None:
        """Another branch is shown, the one that ends with this message."""
        self._add(Choice(leaf))

    def instruct(self, system: str) -> None:
        """Another system prompt, for the answers to come."""
        self._add(Instruction(self._place, system))

    def append(self, text: str) -> None:
        """More of the answer to the newest question."""
        if (draft := self._growing) is not None:
            draft.unwritten.append(text)
            self.write_due()

    def write_due(self) -> None:
        """Write what waits if the last write was a second ago; call it now and then while an answer pauses."""
        if self._clock() - self._written >= WRITE_EVERY:
            self._write()

    def finish(self, ending: Ending) -> None:
        """The answer to the newest question has ended; written at once."""
        if (draft := self._growing) is not None:
            draft.ending = ending
            self._write()

    def close(self) -> None:
        """Write what waits; an answer that was not finished stays marked so."""
        self._write()

    @property
    def _growing(self) -> Draft | None:
        drafts = (entry for entry in reversed(self._waiting) if isinstance(entry, Draft))
        newest = next(drafts, None)
        return newest if newest is not None and not newest.done else None

    def _add(self, entry: Entry) -> None:
        self._waiting.append(entry)
        self._write()

    def _write(self) -> None:
        self._written, self.behind = self._clock(), True
        for entry in list(self._waiting):
            entry.write(self._db)
            if entry.done:
                self._waiting.remove(entry)
        self.behind = False
