"""Pulls, one after the other, that a screen can look at, cancel and leave behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from medusa_chat.catalog.card import Card
from medusa_chat.catalog.presence import weight_bytes
from medusa_chat.catalog.pull_process import COMMAND, PullProcess
from medusa_chat.engine.errors import MedusaError


@dataclass(frozen=True, slots=True)
class Pulling:
    """A pull as it stands."""

    name: str
    stage: str
    done: float | None
    """Share of the stage, 0 to 1; None while unknown."""
    total: int | None
    """Bytes to download; None where `done` is no share of bytes."""
    per_second: float | None
    """Bytes; None until measured."""

    @property
    def seconds_left(self) -> float | None:
        if self.done is None or self.total is None or not self.per_second:
            return None
        return (1.0 - self.done) * self.total / self.per_second


@dataclass(frozen=True, slots=True)
class Ended:
    name: str
    cancelled: bool
    problem: str | None
    """One plain sentence; None when the weights are here, or the pull was cancelled."""


class PullQueue:
    """`look` moves it on: call it a few times a second."""

    def __init__(self, command: Sequence[str] | None = None) -> None:
        self._command = command or COMMAND
        self._waiting: list[Card] = []
        self._card: Card | None = None
        self._process: PullProcess | None = None

    @property
    def running(self) -> Pulling | None:
        if self._process is None or self._card is None:
            return None
        process, total = self._process, weight_bytes(self._card)
        if not process.downloading or total is None:
            return Pulling(self._card.name, process.stage, process.done, None, None)
        rate = process.rate
        return Pulling(self._card.name, process.stage, process.done, total, None if rate is None else rate * total)

    @property
    def waiting(self) -> tuple[str, ...]:
        """Names of those whose turn comes."""
        return tuple(card.name for card in self._waiting)

    def knows(self, name: str) -> bool:
        """Running or waiting."""
        return name in self.waiting or (self._card is not None and self._card.name == name)

    def add(self, card: Card) -> None:
        if not self.knows(card.name):
            self._waiting.append(card)

    def cancel(self, name: str) -> bool:
        """Take it out, or have it end; False when there is none of this name. What was downloaded stays."""
        if self._card is not None and self._card.name == name and self._process is not None:
            self._process.interrupt()
            return True
        before = len(self._waiting)
        self._waiting = [card for card in self._waiting if card.name != name]
        return len(self._waiting) < before

    def look(self) -> list[Ended]:
        """Those that ended since the last look; starts the next one."""
        ended = []
        if self._process is not None and self._card is not None and self._process.ended:
            ended.append(Ended(self._card.name, self._process.cancelled, self._process.problem))
            self._process = self._card = None
        if self._process is None and self._waiting:
            self._card = self._waiting.pop(0)
            problem = self._start(self._card)
            if problem is not None:
                ended.append(Ended(self._card.name, False, problem))
                self._card = None
        return ended

    def close(self) -> None:
        """End all; returns when the processes are gone."""
        self._waiting = []
        if self._process is not None:
            self._process.end()
            self._process = self._card = None

    def _start(self, card: Card) -> str | None:
        """Returns what is in the way."""
        try:
            self._process = PullProcess(card.name, self._command)
        except OSError as error:
            return f"The pull of {card.name} could not be started ({error.strerror}): put that right and pull again."
        except MedusaError as error:
            return str(error)
        return None
