"""The engine as the screen uses it: in a process of its own, restarted when it died. Free of torch."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence

from medusa_chat.engine.errors import MedusaError
from medusa_chat.host import failures
from medusa_chat.host.messages import (
    Compare,
    Compared,
    Event,
    Failed,
    Finished,
    Generate,
    Load,
    Loaded,
    Request,
    Shutdown,
)
from medusa_chat.host.process import COMMAND, EngineProcess
from medusa_chat.settings import paths


class EngineClient:
    """Implements `host.protocol.Engine`.

    When the process dies, every answer it had not finished gets one `Failed` of kind "died" (or one without an answer
    when there was none). The next `Load` or `Generate` starts a new process; before a `Generate` the last `Load` is
    repeated, so its `Progress` and `Loaded` arrive again. Requests that steer an answer are dropped where none can run.
    """

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        self._command = command
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._wake: Callable[[], None] | None = None
        self._closed = False
        self._process: EngineProcess | None = None
        self._last_load: Load | None = None
        self._needs_load = False
        """The process knows nothing of the last `Load` yet."""
        self._loading = False
        self._unfinished: list[int] = []

    def start(self, wake: Callable[[], None] | None = None) -> None:
        with self._lock:
            self._wake = wake
            failed = self._ensure_process(answer=None)
        self._tell(failed)

    def send(self, request: Request) -> None:
        if isinstance(request, Shutdown):
            self.close()
            return
        with self._lock:
            failed = self._pass_on(request)
        self._tell(failed)

    def drain(self) -> list[Event]:
        events: list[Event] = []
        while not self._events.empty():
            events.append(self._events.get_nowait())
        return events

    def close(self) -> None:
        with self._lock:
            self._closed = True
            process, self._process = self._process, None
        if process is not None:
            process.end()

    @property
    def pid(self) -> int | None:
        """Of the engine's process; None while there is none."""
        with self._lock:
            return self._process.pid if self._process is not None else None

    def _pass_on(self, request: Request) -> list[Event]:
        """Give the request to the process, a new one where needed; returns what to tell where there can be none."""
        answer = request.answer if isinstance(request, Generate | Compare) else None
        if isinstance(request, Load):
            self._last_load, self._needs_load = request, True
        if isinstance(request, Load | Generate | Compare):
            failed = self._ensure_process(answer)
            if failed:
                return failed
        if self._process is None:
            return []
        if self._needs_load and self._last_load is not None:
            self._process.send(self._last_load)
            self._needs_load, self._loading = False, True
        if not isinstance(request, Load):
            self._process.send(request)
        if answer is not None:
            self._unfinished.append(answer)
        return []

    def _ensure_process(self, answer: int | None) -> list[Event]:
        """Start a process if there is none; returns what to tell when that fails."""
        if self._process is not None or self._closed:
            return []
        try:
            self._process = EngineProcess(self._command, paths.log_file(), self._on_event, self._on_end)
        except OSError as error:
            return [failures.from_failed_start(error, answer=answer)]
        except MedusaError as error:
            return [Failed("died", str(error), answer)]
        self._needs_load = True
        return []

    def _on_event(self, event: Event) -> None:
        with self._lock:
            if self._closed:
                return
            if isinstance(event, Loaded) or (isinstance(event, Failed) and event.answer is None):
                self._loading = False
            if isinstance(event, Finished | Compared | Failed) and event.answer in self._unfinished:
                self._unfinished.remove(event.answer)
        self._tell([event])

    def _on_end(self, status: int) -> None:
        with self._lock:
            if self._closed:
                return
            unfinished, self._unfinished = self._unfinished, []
            loading, self._loading = self._loading, False
            self._process = None
        log = paths.log_file()
        answers: list[int | None] = [*unfinished] or [None]
        self._tell([failures.from_death(status, answer=answer, loading=loading, log=log) for answer in answers])

    def _tell(self, events: list[Event]) -> None:
        for event in events:
            self._events.put(event)
        if events and self._wake is not None:
            self._wake()
