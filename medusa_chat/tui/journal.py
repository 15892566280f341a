"""Saves the conversation as it happens, on a thread of its own: the screen never waits for the disk.

Everything that touches the file goes through that one thread, in the order it was asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from time import time
from typing import Any, TypeVar

from medusa_chat.chats import conversations, messages
from medusa_chat.chats.columns import Columns
from medusa_chat.chats.database import Database
from medusa_chat.chats.entries import nowhere
from medusa_chat.chats.records import Conversation
from medusa_chat.chats.scribe import Scribe
from medusa_chat.chats.trace import TraceStep
from medusa_chat.engine.errors import MedusaError
from medusa_chat.host.messages import Loaded, StepTaken
from medusa_chat.settings.paths import chats_file
from medusa_chat.tui.branches import Branches
from medusa_chat.tui.choices import Choices
from medusa_chat.tui.keeping import ending_of, settings_of, trace_step
from medusa_chat.tui.recalling import branches_of
from medusa_chat.tui.turn import Turn

T = TypeVar("T")


class Journal:
    """The screen's side of `chats`. Troubles are collected, not raised: the conversation itself goes on."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "journal")
        self._troubles: SimpleQueue[str] = SimpleQueue()
        self._told: str | None = None
        self._db: Database | None = None
        self._scribe: Scribe | None = None
        self._closed = False
        self._answering = False
        self._length = 0
        """Characters of the running answer handed over."""
        self._settings: dict[str, Any] | None = None
        self._made_with: object = None
        self._trace = Columns()

    def open(self) -> None:
        self._later(self._open)

    def close(self) -> None:
        """Writes what waits, then lets go of the file; returns when that is done."""
        self._later(self._close)
        self._closed = True
        self._thread.shutdown()

    def troubles(self) -> list[str]:
        """Plain sentences since the last call; a trouble that lasts is told once."""
        return [self._troubles.get_nowait() for _ in range(self._troubles.qsize())]

    # The running conversation.

    @property
    def here(self) -> int | None:
        """The running conversation, as soon as it is on the disk."""
        return None if self._scribe is None else self._scribe.conversation

    def start(self) -> None:
        """A new conversation."""
        self._write(Scribe.start)

    def go_on(self, conversation: int) -> None:
        self._write(lambda scribe: scribe.go_on(conversation))

    def ask(self, turn: Turn, above: Turn | None) -> None:
        """A new turn below another one; `turn.kept` follows when it is written."""
        self._begin()
        place = nowhere if above is None else lambda: _end_of(above)
        self._write(lambda scribe: scribe.ask(turn.question, place, lambda *ids: _keep(turn, *ids)))

    def ask_again(self, turn: Turn, old: Turn) -> None:
        """A new turn with the same question as an old one."""
        self._begin()
        self._write(lambda scribe: scribe.ask_again(lambda: old.kept.question, lambda *ids: _keep(turn, *ids)))

    def choose(self, leaf: Turn) -> None:
        """Another branch is shown, down to this turn."""
        self._write(lambda scribe: scribe.choose(lambda: _end_of(leaf)))

    def instruct(self, system: str) -> None:
        """Another system prompt."""
        self._write(lambda scribe: scribe.instruct(system))

    def take(self, taken: StepTaken, choices: Choices, loaded: Loaded | None) -> None:
        """Steps of the running answer and the settings in force."""
        if self._settings is None:
            self._settings, self._made_with = settings_of(choices, loaded), (choices.decoding, choices.sampling)
        elif (choices.decoding, choices.sampling) != self._made_with:
            self._made_with = (choices.decoding, choices.sampling)
            now = settings_of(choices, loaded)
            change = {"step": taken.steps[0].index, "decoding": now["decoding"], "sampling": now["sampling"]}
            self._settings.setdefault("changes", []).append(change)
        trace = self._trace
        self._later(lambda: trace.extend(map(trace_step, taken.steps)))
        self._append("".join(step.text for step in taken.steps))

    def save(self) -> None:
        """Every second or so: text must not wait for the next token, nor what a trouble held up for the next answer."""
        self._write(Scribe.write_due)

    def end(self, turn: Turn) -> None:
        """The running answer has ended, or is being left."""
        if self._answering:
            self._append(turn.text[self._length :])
            ending = ending_of(turn, self._settings or {}, self._trace)
            self._answering = False
            self._write(lambda scribe: scribe.finish(ending))

    # Earlier conversations.

    async def recall(self, conversation: int) -> tuple[Conversation, Branches]:
        """
        Raises:
            MedusaError: the conversation cannot be read.
        """

        def read(db: Database) -> tuple[Conversation, Branches]:
            return conversations.get(db, conversation), branches_of(messages.tree(db, conversation))

        return await self.read(read)

    async def steps(self, answer: int) -> list[TraceStep]:
        """The step trace of an answer by message id; empty where none was kept.

        Raises:
            MedusaError: it cannot be read.
        """
        return await self.read(lambda db: messages.steps_of(db, answer))

    async def settings(self, answer: int) -> dict[str, Any] | None:
        """What an answer was made with, by message id; None as long as it is being written.

        Raises:
            MedusaError: it cannot be read.
        """
        return await self.read(lambda db: messages.get(db, answer).settings)

    async def read(self, work: Callable[[Database], T]) -> T:
        """Whatever else is to be asked of the file, in order with what is being written.

        Raises:
            MedusaError: of the work, or the file could not be opened.
        """

        def read() -> T:
            if self._db is None:
                raise MedusaError("The conversations could not be opened: see the message at the start.")
            return work(self._db)

        return await asyncio.wrap_future(self._thread.submit(read))

    # On the thread.

    def _begin(self) -> None:
        self._answering, self._length, self._settings, self._trace = True, 0, None, Columns()

    def _open(self) -> None:
        try:
            self._db = Database(chats_file())
            self._scribe = Scribe(self._db)
            conversations.purge(self._db, time() - conversations.KEPT_SECONDS)
        except MedusaError as error:
            self._tell(f"{error} Until then no conversation is saved." if self._db is None else str(error))

    def _close(self) -> None:
        if self._db is not None and self._scribe is not None:
            try:
                self._scribe.close()
            finally:
                self._db.close()

    def _tell(self, trouble: str) -> None:
        if trouble != self._told:
            self._told = trouble
            self._troubles.put(trouble)

    def _attempt(self, work: Callable[[], None]) -> None:
        try:
            work()
        except MedusaError as error:
            self._tell(str(error))

    def _later(self, work: Callable[[], None]) -> None:
        if not self._closed:
            self._thread.submit(self._attempt, work)

    def _write(self, work: Callable[[Scribe], None]) -> None:
        def write() -> None:
            if self._scribe is not None:
                work(self._scribe)
                if not self._scribe.behind:
                    self._told = None

        self._later(write)

    def _append(self, text: str) -> None:
        if text:
            self._length += len(text)
            self._write(lambda scribe: scribe.append(text))


def _keep(turn: Turn, question: int, answer: int) -> None:
    turn.kept.question, turn.kept.answer = question, answer


def _end_of(turn: Turn) -> int | None:
    """The message that stands last of a turn."""
    return turn.kept.question if turn.kept.answer is None else turn.kept.answer
