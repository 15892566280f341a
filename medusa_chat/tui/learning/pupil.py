"""`medusa-chat learn` in a process of its own, which has to stand back behind every other."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Thread

import psutil

from medusa_chat.engine.errors import MedusaError
from medusa_chat.tui.learning.knowledge import Lesson

_LOWEST = 19
"""Of the priorities; Windows has a class for it instead."""
_GOING_SECONDS = 2.0
"""For a process that was told to end, before it is made to."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Both None: it was ended before it was done."""

    lesson: Lesson | None = None
    problem: str | None = None
    """A plain sentence."""


def command(model: str, share: float) -> list[str]:
    return [sys.executable, "-m", "medusa_chat", "learn", "--model", model, "--share", str(share), "--json"]


class Pupil:
    """Runs until it is done or stopped; nothing here waits but `stop`."""

    def __init__(self, command: Sequence[str]) -> None:
        """
        Raises:
            MedusaError: the process cannot be started.
        """
        self.outcome: Outcome | None = None
        """None as long as it runs."""
        self._stopped = False
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
            )
        except OSError as error:
            raise MedusaError(f"The heads cannot learn now: no process could be started ({error.strerror}).") from error
        _stand_back(self._process.pid)
        self._reader = Thread(target=self._read, name="lesson", daemon=True)
        self._reader.start()

    def end(self) -> None:
        """Tell it to end; `outcome` says when it has. What it did so far is kept, and the next one goes on there."""
        self._stopped = True
        self._process.terminate()

    def stop(self) -> None:
        """End it, and return when it is gone."""
        self.end()
        try:
            self._process.wait(_GOING_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(_GOING_SECONDS)

    def _read(self) -> None:
        said, complaints = self._process.communicate()
        lesson = _lesson(said)
        if lesson is not None:
            self.outcome = Outcome(lesson)
        elif self._stopped:
            self.outcome = Outcome()
        else:
            last = next((line for line in reversed(complaints.splitlines()) if line.strip()), "")
            sentence = last.removeprefix("medusa-chat: ").strip()
            self.outcome = Outcome(problem=sentence or f"The lesson ended with exit code {self._process.returncode}.")


def on_battery() -> bool:
    """False where there is no battery, or nobody knows."""
    try:
        battery = psutil.sensors_battery()
    except (AttributeError, OSError, psutil.Error):
        return False
    return battery is not None and battery.power_plugged is False


def _lesson(said: str) -> Lesson | None:
    for line in reversed(said.splitlines()):
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict) and row.get("event") == "learned":
            return Lesson.read(row)
    return None


def _stand_back(process: int) -> None:
    """Where the system allows it; a lesson that may not is shorter."""
    try:
        psutil.Process(process).nice(getattr(psutil, "IDLE_PRIORITY_CLASS", _LOWEST))
    except (psutil.Error, OSError):
        return
