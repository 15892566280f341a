"""The screen's end of an engine, for tests: in the same process, and through a client with a process of its own."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from doubles import fake_session

from medusa_chat.engine.options import DECODERS, Decoding
from medusa_chat.host.channel import Channel
from medusa_chat.host.client import EngineClient
from medusa_chat.host.messages import (
    ChatMessage,
    Compare,
    Event,
    Generate,
    Lane,
    LaneStepped,
    StepRecord,
    StepTaken,
)
from medusa_chat.host.serving import Service

FAKE_CHILD = (sys.executable, str(Path(fake_session.__file__).with_name("fake_child.py")))

E = TypeVar("E")


def ask(content: str, answer: int = 1, **more) -> Generate:
    return Generate(answer, (ChatMessage("user", content),), **more)


def steps_in(events: list[Event]) -> list[StepRecord]:
    return [step for event in events if isinstance(event, StepTaken) for step in event.steps]


def compare(content: str, *lanes: str, answer: int = 1, budget: int | None = None) -> Compare:
    """Lanes by their decoder; any other name is a lane that decodes jointly."""
    asked = (Lane(name, Decoding(name if name in DECODERS else "joint", budget)) for name in lanes)
    return Compare(answer, (ChatMessage("user", content),), tuple(asked))


def lane_steps_in(events: list[Event], lane: int) -> list[StepRecord]:
    return [step for event in events if isinstance(event, LaneStepped) and event.lane == lane for step in event.steps]


class ServedScreen:
    """Talks to a service that runs in a thread of the test."""

    def __init__(self, open_session=fake_session.FakeSession) -> None:
        requests, requests_in = os.pipe()
        events, events_in = os.pipe()
        self._ours = os.fdopen(events, "rb"), os.fdopen(requests_in, "wb")
        self._theirs = os.fdopen(requests, "rb"), os.fdopen(events_in, "wb")
        self._channel = Channel(*self._ours)
        self.gone = threading.Event()
        service = Service(Channel(*self._theirs), open_session, Path("engine.log"), self.gone.set)
        self._thread = threading.Thread(target=service.run)
        self._thread.start()

    def send(self, *requests) -> None:
        for request in requests:
            self._channel.send(request)

    def until(self, kind: type[E]) -> tuple[list[Event], E]:
        """The events before the first of a kind, and that one."""
        before: list[Event] = []
        while not isinstance(event := self._channel.receive(), kind):
            before.append(event)
        return before, event

    def hang_up(self) -> None:
        """As the death of the screen's process would; may be called twice."""
        for stream in self._ours:
            stream.close()

    def close(self) -> None:
        self.hang_up()
        self._thread.join()
        self.gone.wait()
        for stream in self._theirs:
            # What is still in the buffer of the broken pipe has nowhere to go.
            with suppress(BrokenPipeError):
                stream.close()


class WatchedClient:
    """A client, started, and what it delivered."""

    def __init__(self, command=FAKE_CHILD) -> None:
        self.client = EngineClient(command)
        self._woken = threading.Semaphore(0)
        self._events: list[Event] = []
        self.client.start(self._woken.release)

    def send(self, *requests) -> None:
        for request in requests:
            self.client.send(request)

    def until(self, kind: type[E]) -> tuple[list[Event], E]:
        """The events before the first of a kind, and that one. Waits for the wake-ups, never for a time."""
        before: list[Event] = []
        while True:
            while self._events:
                event = self._events.pop(0)
                if isinstance(event, kind):
                    return before, event
                before.append(event)
            self._woken.acquire()
            self._events += self.client.drain()
