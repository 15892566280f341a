"""Prompts that wait for the running answer to end."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget

from medusa_chat.engine.text.harmless import harmless
from medusa_chat.tui.text import MUTED, fitted

_SHOWN = 3


class QueuedPrompts(Widget):
    """A few muted lines above the composer, the next prompt first; nothing while none waits."""

    def __init__(self) -> None:
        super().__init__()
        self.prompts: list[str] = []
        self.display = False

    def add(self, prompt: str) -> None:
        self.prompts.append(prompt)
        self._show()

    def next(self) -> str:
        """Take the one that waits longest."""
        return self._take(0)

    def last(self) -> str:
        """Take back the newest."""
        return self._take(-1)

    def _take(self, place: int) -> str:
        prompt = self.prompts.pop(place)
        self._show()
        return prompt

    def _show(self) -> None:
        self.display = bool(self.prompts)
        self.refresh(layout=True)

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return min(len(self.prompts), _SHOWN)

    def render(self) -> Content:
        count, width = len(self.prompts), self.content_size.width
        lead = f"queued: {count} · "
        rows = []
        for number, prompt in enumerate(self.prompts[:_SHOWN]):
            words = " ".join(harmless(prompt).split())
            more = f"  (+{count - _SHOWN} more)" if number == _SHOWN - 1 and count > _SHOWN else ""
            rows.append(fitted((lead if number == 0 else " " * len(lead)) + words, width - len(more)) + more)
        return Content.styled("\n".join(rows), MUTED)
