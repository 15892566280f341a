"""A running pull, from the outside: how far it is, how fast, and how to end it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic

from medusa_chat.settings import paths

COMMAND = (sys.executable, "-m", "medusa_chat.catalog.pull_child")

PATIENCE = 3.0
"""Seconds an interrupted pull gets to tidy up before it is killed."""

_WINDOW = 40
"""Reports the rate is taken over: a few seconds."""
_PAUSE = 1.0
"""Seconds without a report that count as standing still."""
_BYTES_STAGE = "downloading"
_INTERRUPTED = 130


@dataclass(slots=True)
class Rate:
    """How fast a share grows, from the latest reports."""

    _reports: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=_WINDOW))
    """(seconds, share)."""

    def add(self, now: float, share: float) -> None:
        if self._reports and share < self._reports[-1][1]:
            self._reports.clear()
        self._reports.append((now, share))

    def per_second(self, now: float) -> float | None:
        """None until there is something to measure; falls while nothing comes."""
        if len(self._reports) < 2:
            return None
        (first, start), (last, end) = self._reports[0], self._reports[-1]
        if now - last > _PAUSE:
            last = now
        return (end - start) / (last - first) if last > first and end > start else None


class PullProcess:
    """Started when made; a thread of its own reads what the child says."""

    def __init__(self, name: str, command: Sequence[str]) -> None:
        """
        Raises:
            OSError: the process cannot be started.
            MedusaError: there is no place for the log.
        """
        self.stage = "starting"
        self.done: float | None = None
        """Share of the stage, 0 to 1; None while unknown."""
        self.problem: str | None = None
        """One plain sentence, once the pull has failed."""
        self.cancelled = False
        self._rate = Rate()
        with paths.log_file().open("ab") as errors:
            self._process = subprocess.Popen(
                [*command, name],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                encoding="utf-8",
                # Its own conversion belongs to the same group; ctrl-c in the terminal is not meant for it.
                start_new_session=True,
            )
        self._reader = threading.Thread(target=self._read, name=f"pull {name}", daemon=True)
        self._reader.start()

    @property
    def ended(self) -> bool:
        return not self._reader.is_alive()

    @property
    def downloading(self) -> bool:
        """`done` is a share of bytes."""
        return self.stage.startswith(_BYTES_STAGE)

    @property
    def rate(self) -> float | None:
        """Share of the stage per second."""
        return self._rate.per_second(monotonic())

    def interrupt(self) -> None:
        """Have it end soon; what was downloaded stays."""
        self.cancelled = True
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT) if os.name == "posix" else self._process.terminate()

    def end(self) -> None:
        """Interrupt it and wait until it is gone."""
        self.interrupt()
        self._reader.join(PATIENCE)
        if not self.ended:
            self._kill()
            self._reader.join()

    def _kill(self) -> None:
        """With the conversion, which would otherwise go on alone."""
        if os.name == "posix":
            os.killpg(self._process.pid, signal.SIGKILL)
        else:
            self._process.kill()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._take(line)
        code = self._process.wait()
        if code not in (0, _INTERRUPTED) and self.problem is None and not self.cancelled:
            self.problem = (
                f"The pull ended unexpectedly (exit status {code}); pull again, details are in {paths.log_file()}."
            )

    def _take(self, line: str) -> None:
        try:
            message = json.loads(line)
        except ValueError:
            return
        if not isinstance(message, dict):
            return
        if isinstance(message.get("stage"), str):
            stage, done = message["stage"], message.get("done")
            if stage != self.stage:
                self._rate = Rate()
            self.stage, self.done = stage, float(done) if isinstance(done, int | float) else None
            if self.done is not None:
                self._rate.add(monotonic(), self.done)
        self.problem = message.get("problem", self.problem)
