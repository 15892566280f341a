"""What is known of a training run by reading its folder while it grows; nothing is read twice."""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from medusa_chat.training.run import HEADS, LOG, Run

AT_ONCE = 1 << 20
"""Bytes read in one look: a long log comes in pieces, and the screen draws between them."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Held-out answers at one step."""

    step: int
    top1: tuple[float, ...]
    """By head, 0..1."""
    top5: tuple[float, ...]
    held_out_loss: float | None
    kl: float | None
    """Medusa-2: nats a token from the model without adapters."""


@dataclass(slots=True)
class Following:
    """`look` blocks on the disk and belongs on a thread; nothing else may touch the value meanwhile."""

    folder: Path
    run: Run
    steps: array[int] = field(default_factory=lambda: array("q"))
    losses: array[float] = field(default_factory=lambda: array("d"))
    """Smoothed, one for each of `steps`."""
    measured: list[Measured] = field(default_factory=list)
    step: int = 0
    of: int = 0
    rate: float = 0.0
    """Positions a second."""
    grown: float = 0.0
    """When the folder was last written to, seconds since 1970."""
    finished: bool = False
    """All steps are done and the heads are there."""
    behind: bool = True
    """The log holds more than was read yet."""
    _place: int = 0
    _rest: bytes = b""
    _file: tuple[int, int] = (0, 0)

    @classmethod
    def begin(cls, folder: Path) -> Following:
        """
        Raises:
            MedusaError: there is no run in that folder.
        """
        return cls(folder, Run.load(folder))

    def look(self) -> bool:
        """Read what is new; whether anything was."""
        before = (self._place, self._file, self.grown, self.finished)
        self.grown = max(_written(self.folder), _written(self.folder / "hidden"))
        for line in self._lines():
            self._take(line)
        done = 0 < self.of <= self.step and not self.behind
        self.finished = done and (self.folder / HEADS / "config.json").is_file()
        return before != (self._place, self._file, self.grown, self.finished)

    def _lines(self) -> Iterator[bytes]:
        """Whole ones; the last one may still be being written."""
        try:
            with (self.folder / LOG).open("rb") as file:
                about = os.fstat(file.fileno())
                # A run that goes on puts another file in its place, without what came after the checkpoint.
                if self._file != (about.st_dev, about.st_ino) or about.st_size < self._place:
                    self._forget()
                    self._file = (about.st_dev, about.st_ino)
                file.seek(self._place)
                read = file.read(AT_ONCE)
        except OSError:
            self.behind = False
            return
        self._place += len(read)
        self.behind = self._place < about.st_size
        *lines, self._rest = (self._rest + read).split(b"\n")
        yield from lines

    def _forget(self) -> None:
        self.steps, self.losses, self.measured = array("q"), array("d"), []
        self.step = self.of = self._place = 0
        self.rate, self._rest = 0.0, b""

    def _take(self, line: bytes) -> None:
        """A row that is none is passed over."""
        try:
            row = json.loads(line)
            step, of = int(row["step"]), int(row["of"])
            if "loss" in row:
                loss, rate = float(row["loss"]), float(row["tokens_per_second"])
                if not (isfinite(loss) and isfinite(rate)):
                    return
                self.steps.append(step)
                self.losses.append(loss)
                self.rate = rate
            elif "top1" in row:
                self.measured.append(_measured(step, row))
        except (ValueError, TypeError, KeyError):
            return
        self.step, self.of = step, of


def _measured(step: int, row: dict[str, Any]) -> Measured:
    top1, top5 = tuple(map(float, row["top1"])), tuple(map(float, row["top5"]))
    if len(top1) != len(top5) or not all(map(isfinite, top1 + top5)):
        raise ValueError("no accuracies")
    loss, kl = row.get("held_out_loss"), row.get("kl")
    return Measured(step, top1, top5, None if loss is None else float(loss), None if kl is None else float(kl))


def _written(folder: Path) -> float:
    """When any file in it was; 0 where there is none."""
    try:
        with os.scandir(folder) as entries:
            return max((entry.stat().st_mtime for entry in entries), default=0.0)
    except OSError:
        return 0.0
