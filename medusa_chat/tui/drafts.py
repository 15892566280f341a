"""What the composer remembers from run to run: prompts asked before, and what was typed but never sent.

Everything that touches the files happens on a thread of its own, in the order it was asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue

from medusa_chat.engine.errors import MedusaError
from medusa_chat.settings.paths import draft_file, prompts_file
from medusa_chat.tui.past_prompts import PastPrompts, append_prompt, read_prompts


class Drafts:
    """A trouble is told once; typing goes on without a memory then."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "drafts")
        self._troubles: SimpleQueue[str] = SimpleQueue()
        self._told = False
        self._draft = ""
        """As it is on the disk."""
        self.past = PastPrompts()

    async def open(self) -> str:
        """Read the prompts into `past`; what was being typed when the program ended last."""
        past = self.past
        draft = await asyncio.wrap_future(self._thread.submit(self._read))
        for prompt in past.prompts:
            # Asked while the file was being read.
            self.past.add(prompt)
        return draft

    def add(self, prompt: str) -> None:
        """It has been asked."""
        self.past.add(prompt)
        known = list(self.past.prompts)
        self._later(lambda: append_prompt(prompts_file(), prompt, known))

    def keep(self, text: str) -> None:
        """What is being typed; cheap where nothing has changed."""
        if text != self._draft:
            self._draft = text
            self._later(lambda: _write_draft(text))

    def close(self, text: str) -> None:
        """Keep what is typed, and return when everything is written."""
        self.keep(text)
        self._thread.shutdown()

    def trouble(self) -> str | None:
        """A plain sentence, if there is a new one."""
        return None if self._troubles.empty() else self._troubles.get_nowait()

    def _read(self) -> str:
        draft = ""

        def read() -> None:
            nonlocal draft
            if draft_file().exists():
                draft = draft_file().read_text(encoding="utf-8", errors="replace")
            self.past = PastPrompts(read_prompts(prompts_file()))

        self._attempt(read)
        self._draft = draft
        return draft

    def _later(self, work: Callable[[], None]) -> None:
        self._thread.submit(self._attempt, work)

    def _attempt(self, work: Callable[[], None]) -> None:
        try:
            work()
        except (OSError, MedusaError) as error:
            if not self._told:
                self._told = True
                self._troubles.put(f"What you type is not remembered for the next time: {error}")


def _write_draft(text: str) -> None:
    """All of it or what was there before."""
    path = draft_file()
    fresh = path.with_suffix(".new")
    fresh.write_text(text, encoding="utf-8", errors="replace")
    fresh.replace(path)
