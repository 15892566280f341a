"""How quick the screen is: from its start to the first frame, while text streams in, and over years of conversations.

Everything is measured from outside, in a pseudo-terminal: from a key that goes in to the frame that shows it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import sleep
from typing import Any

from medusa_chat.bench.archive import fill
from medusa_chat.bench.terminal import Terminal
from medusa_chat.engine.errors import MedusaError
from medusa_chat.settings.paths import HOME_VARIABLE

READY = "enter sends"
"""Painted with the first frame."""
QUIT = "\x11"
CONVERSATIONS = "\x0f"
CLEAR_LINE = "\x15"
LETTERS = "абвгдежзиклмнопрстуфхцчшщыэюя"
"""No made-up text and no word of the app has these, so that one on the screen is the one just typed."""
NEWEST, FOUND = "Ѧ", "Ѭ"
RARE = "seahorse"
PAUSE = 0.07
"""Seconds between two keys of somebody who types fast."""
KEY_PATIENCE = 3.0
PATIENCE = 60.0
"""Seconds after which something on the screen is given up."""

_APP = """
import atexit, json, sys
from pathlib import Path
heavy = lambda: [name for name in ("torch", "transformers") if name in sys.modules]
atexit.register(lambda: Path(sys.argv[-1]).write_text(json.dumps(heavy())))
from medusa_chat.tui.launch import launch
launch("nothing-to-load")
"""


@dataclass(frozen=True, slots=True)
class FirstPaint:
    """Of the real app."""

    seconds: tuple[float, ...]
    """From the start of the interpreter to the first whole frame, one a start."""
    heavy_modules: tuple[str, ...]
    """Of those the screen must not import, the ones it did."""

    @property
    def median_seconds(self) -> float:
        return median(self.seconds)


@dataclass(frozen=True, slots=True)
class Streaming:
    """While an engine without a model delivers text."""

    turns: int
    """Of the conversation before it began."""
    keys: tuple[float, ...]
    """Seconds from each typed letter to the frame with it."""
    lost: int
    """Letters that were not there after `KEY_PATIENCE`."""
    seen: Mapping[str, Any]
    """What the app's process reports of itself, see `tui.rehearsal`."""

    @property
    def core_share(self) -> float:
        return float(self.seen["cpu_seconds"] / self.seen["seconds"])

    @property
    def tokens_per_second(self) -> float:
        """Pauses between two answers included."""
        return float(self.seen["tokens"] / self.seen["seconds"])

    def key_percentile(self, percent: int) -> float:
        return sorted(self.keys)[len(self.keys) * percent // 100]


@dataclass(frozen=True, slots=True)
class Archive:
    """Over a large file of conversations."""

    conversations: int
    messages: int
    list_seconds: tuple[float, ...]
    """From the key to the list with the newest conversation in it."""
    search_seconds: tuple[float, ...]
    """From the last letter of a word to the one conversation that has it."""


def first_paint(repeats: int) -> FirstPaint:
    """Start the app, wait for its first frame, and leave it."""
    seconds, heavy = [], set()
    for _ in range(repeats):
        with TemporaryDirectory() as folder:
            report = Path(folder) / "modules.json"
            terminal = Terminal([sys.executable, "-c", _APP, str(report)], _home(folder), READY)
            try:
                seconds.append(_shown(terminal.start(PATIENCE), "first frame"))
                sleep(0.5)
                _leave(terminal)
            finally:
                terminal.close()
            heavy |= set(json.loads(report.read_text(encoding="utf-8")))
    return FirstPaint(tuple(seconds), tuple(sorted(heavy)))


def streaming(tokens_per_second: float, tokens: int, length: int, turns: int) -> Streaming:
    """Go on with a long conversation, and type all the while.

    Args:
        tokens: of all answers together; `length`: of each.
    """
    with TemporaryDirectory() as folder:
        fill(Path(folder) / "data" / "chats.db", 1, turns, (NEWEST, ""), "")
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "medusa_chat.tui.rehearsal", str(report)]
        command += [str(tokens_per_second), str(tokens), str(length)]
        terminal = Terminal(command, _home(folder), READY)
        try:
            _shown(terminal.start(PATIENCE), "first frame")
            sleep(1.0)
            _shown(terminal.press(CONVERSATIONS, NEWEST, PATIENCE), "list of conversations")
            sleep(1.0)
            _shown(terminal.press("\r", NEWEST, PATIENCE), "long conversation")
            sleep(1.0)
            _shown(terminal.press("Begin.\r", "lighthouse", PATIENCE), "first words of an answer")
            keys, lost = _type_until_it_ends(terminal)
        finally:
            terminal.close()
        if not report.exists() or not keys:
            raise MedusaError("The app ended before everything was shown and typed: measure with more tokens.")
        return Streaming(turns, tuple(keys), lost, json.loads(report.read_text(encoding="utf-8")))


def archive(conversations: int, turns: int, repeats: int) -> Archive:
    """Open the list and search in it, each time in a newly started app."""
    listed, found = [], []
    with TemporaryDirectory() as folder:
        fill(Path(folder) / "data" / "chats.db", conversations, turns, (NEWEST, FOUND), RARE)
        command = [sys.executable, "-m", "medusa_chat.tui.rehearsal", str(Path(folder) / "report"), "1", "1", "1"]
        for _ in range(repeats):
            terminal = Terminal(command, _home(folder), READY)
            try:
                _shown(terminal.start(PATIENCE), "first frame")
                sleep(1.0)
                listed.append(_shown(terminal.press(CONVERSATIONS, NEWEST, PATIENCE), "list of conversations"))
                sleep(1.0)
                for letter in RARE[:-1]:
                    terminal.press(letter, letter, 1.0)
                    sleep(PAUSE)
                found.append(_shown(terminal.press(RARE[-1], FOUND, PATIENCE), "conversation that was searched"))
            finally:
                terminal.close()
    return Archive(conversations, conversations * turns * 2, tuple(listed), tuple(found))


def _type_until_it_ends(terminal: Terminal) -> tuple[list[float], int]:
    """Seconds each letter took, and how many never came."""
    keys, lost = [], 0
    while terminal.running:
        for letter in LETTERS:
            took = terminal.press(letter, letter, KEY_PATIENCE)
            if took is not None:
                keys.append(took)
            elif terminal.running:
                lost += 1
            sleep(PAUSE)
        terminal.press(CLEAR_LINE, " ", 0.5)
    return keys, lost


def _home(folder: str) -> dict[str, str]:
    return {HOME_VARIABLE: folder}


def _leave(terminal: Terminal) -> None:
    terminal.press(QUIT, "\x1b[?1049l", PATIENCE)
    for _ in range(100):
        if not terminal.running:
            return
        sleep(0.05)


def _shown(took: float | None, what: str) -> float:
    if took is None:
        raise MedusaError(f"The {what} never came: start medusa-chat by hand to see why.")
    return took
