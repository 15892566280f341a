"""One life of the engine's process, from the screen's side: started, fed, listened to, ended. Free of torch."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import medusa_chat
from medusa_chat.host.channel import Channel
from medusa_chat.host.messages import Event, Request, Shutdown

COMMAND = (sys.executable, "-m", "medusa_chat.host.child")

PATIENCE = 1.0
"""Seconds a process gets to leave by itself before it is killed."""

_LOG_LIMIT = 1_000_000
"""Bytes; a longer log is put aside (one old one is kept) before a new process writes to it."""


class EngineProcess:
    """A child process with two threads around it: one writes requests, one reads events and waits for its end.

    Neither thread keeps this program alive: should it end without `end`, the child sees its stdin close and leaves.
    """

    def __init__(
        self,
        command: Sequence[str],
        log: Path,
        on_event: Callable[[Event], None],
        on_end: Callable[[int], None],
    ) -> None:
        """Starts the process; what it writes to stdout or stderr goes to the end of `log`, never to the terminal.

        `on_event` and `on_end` (with the exit status, once, after the last event) are called on the reading thread.

        Raises:
            OSError: the process cannot be started or the log cannot be written.
        """
        _put_aside(log)
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=_environment(),
                # Neither ctrl-c nor a closed terminal is meant for the engine; it leaves when its stdin closes.
                start_new_session=True,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._channel = Channel(self._process.stdout, self._process.stdin)
        self._on_event = on_event
        self._on_end = on_end
        self._requests: queue.SimpleQueue[Request] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write, name="engine requests", daemon=True)
        self._reader = threading.Thread(target=self._read, name="engine events", daemon=True)
        self._writer.start()
        self._reader.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, request: Request) -> None:
        """Hand a request to the writing thread: a busy child must not hold up the screen."""
        self._requests.put(request)

    def end(self) -> None:
        """Ask the process to leave, kill it when it does not, and wait until it is gone."""
        self.send(Shutdown())
        self._reader.join(PATIENCE)
        if self._reader.is_alive():
            self._process.kill()
            self._reader.join()

    def _write(self) -> None:
        request: Request | None = None
        while not isinstance(request, Shutdown):
            request = self._requests.get()
            try:
                self._channel.send(request)
            except OSError:
                return  # the reading thread sees the same end and tells

    def _read(self) -> None:
        while True:
            try:
                event = self._channel.receive()
            except EOFError:
                break
            self._on_event(event)
        status = self._process.wait()
        self.send(Shutdown())  # lets the writing thread go
        self._on_end(status)


def _environment() -> dict[str, str]:
    """Ours, and the folder this package was imported from: a source tree need not be installed.

    PYTHONSAFEPATH (Python 3.11) keeps modules that happen to lie in the current folder out.
    """
    root = str(Path(medusa_chat.__file__).resolve().parent.parent)
    path = os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), root)))
    return {**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1"}


def _put_aside(log: Path) -> None:
    if log.exists() and log.stat().st_size > _LOG_LIMIT:
        log.replace(log.with_suffix(".old.log"))
