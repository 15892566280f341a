"""The app over an engine without a model, to measure the screen: `python -m medusa_chat.tui.rehearsal`, in a terminal.

It waits for a first question, then goes on asking until enough tokens were shown, writes what it saw into a file, and
leaves. `medusa-chat bench screen` starts it and types meanwhile.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from time import monotonic, process_time
from typing import Any

import psutil

from medusa_chat.host.rehearsed import HIDDEN, RehearsedEngine
from medusa_chat.tui.app import MedusaChatApp
from medusa_chat.tui.chat.answer import AnswerView
from medusa_chat.tui.chat.composer import Composer
from medusa_chat.tui.chat.note import Note
from medusa_chat.tui.chat.screen import ChatScreen
from medusa_chat.tui.chat.transcript import Transcript
from medusa_chat.tui.garbage import search_rarely
from medusa_chat.tui.threads import give_way

LOOK_SECONDS = 1 / 25
MEMORY_AT = (0.2, 0.6, 1.0)
"""Shares of all tokens after which the memory is looked at."""
HEAVY = ("torch", "transformers")
"""Libraries the screen's process must never hold."""


class RehearsalApp(MedusaChatApp):
    """The app itself; only its engine is none."""

    def __init__(self, engine: RehearsedEngine, tokens: int, report: Path) -> None:
        super().__init__(engine, "rehearsal")
        self._rehearsed = engine
        self._wanted = tokens
        self._report = report
        self._began: tuple[float, float] | None = None
        self._checked = 0
        self._whole: list[bool] = []
        self._memory: dict[int, int] = {}

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(LOOK_SECONDS, self._rehearse)

    def _rehearse(self) -> None:
        chat = self.screen_stack[0]
        assert isinstance(chat, ChatScreen)
        turn = chat.dialogue.current
        if turn is None or not turn.answer:
            return
        self._began = self._began or (monotonic(), process_time())
        if turn.running or turn.answer == self._checked:
            return
        view = chat.query_one(Transcript).query_children(AnswerView).last()
        if view.turn is not turn or not view.query_one(Note).display:
            return
        self._checked = turn.answer
        self._whole.append(_words_on(view) == _words(self._rehearsed.text))
        self._note_memory()
        if self._rehearsed.tokens < self._wanted:
            chat.query_one(Composer).post_message(Composer.Submitted("Go on."))
        else:
            self._report.write_text(json.dumps(self._seen(*self._began)), encoding="utf-8")
            self.exit()

    def _note_memory(self) -> None:
        for share in MEMORY_AT:
            tokens = round(share * self._wanted)
            if self._rehearsed.tokens >= tokens:
                self._memory.setdefault(tokens, psutil.Process().memory_info().rss)

    def _seen(self, began: float, cpu: float) -> dict[str, Any]:
        return {
            "tokens": self._rehearsed.tokens,
            "answers": len(self._whole),
            "answers_whole": sum(self._whole),
            "seconds": monotonic() - began,
            "cpu_seconds": process_time() - cpu,
            "memory_bytes": self._memory,
            "heavy_modules": [name for name in HEAVY if name in sys.modules],
        }


def _words_on(view: AnswerView) -> list[str]:
    """What is on the screen of an answer's text."""
    return _words("\n".join(str(part.render()) for part in view.query(".frozen")))


def _words(text: str) -> list[str]:
    """All that is no mark of Markdown's."""
    return [word for word in re.findall(r"\w+", text) if word not in HIDDEN]


def main(report: str, tokens_per_second: str, tokens: str, length: str) -> None:
    engine = RehearsedEngine(float(tokens_per_second), int(length))
    app = RehearsalApp(engine, int(tokens), Path(report))
    search_rarely()
    give_way()
    app.run()
    if app.fault is not None:
        raise app.fault


if __name__ == "__main__":
    main(*sys.argv[1:])
