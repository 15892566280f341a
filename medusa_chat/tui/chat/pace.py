"""What of the chat has to be drawn anew, and when: text, figures and tree each in frames of their own."""

from __future__ import annotations

from dataclasses import dataclass

TICK_SECONDS = 1 / 25
_TEXT_EVERY = 3
"""Ticks. The screen shares its processor with the model, and a key that was pressed waits for one frame only."""
_TREE_EVERY = 6
_BEAT_EVERY = 5


@dataclass(slots=True)
class Pace:
    ticks: int = 0
    text: bool = False
    """There is more of it, or its answer has ended; likewise the others."""
    figures: bool = False
    tree: bool = False

    @property
    def settled(self) -> bool:
        """Everything is drawn."""
        return not (self.text or self.figures or self.tree)

    @property
    def text_due(self) -> bool:
        return self.text and self.ticks % _TEXT_EVERY == 0

    @property
    def figures_due(self) -> bool:
        return self.figures and self.ticks % _TEXT_EVERY == 1

    @property
    def tree_due(self) -> bool:
        return self.tree and self.ticks % _TREE_EVERY == 2

    @property
    def beat(self) -> int:
        """Turns a wheel."""
        return self.ticks // _BEAT_EVERY
