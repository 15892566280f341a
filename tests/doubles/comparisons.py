"""Comparisons as a scripted engine leaves them, for tests that need no screen."""

from __future__ import annotations

from collections.abc import Sequence

from doubles.scripted_engine import LOADED, ScriptedEngine

from medusa_chat.engine.options import Decoding
from medusa_chat.host.messages import Cancel, ChatMessage, Compare, Lane
from medusa_chat.tui.compare.state import Comparison

TEXT = "The capital of France is Paris, a city on the Seine with a long history and many museums."
OTHER = "The capital of France is Lyon, a city on the Rhone."
PLAIN, JOINT, LOOKUP = (Lane(name, Decoding(name)) for name in ("plain", "joint", "lookup"))
PROMPT = (ChatMessage("user", "What is the capital of France?"),)


class Race:
    """A comparison and the engine that fills it."""

    def __init__(self, *texts: str, lanes: Sequence[Lane] = (PLAIN, JOINT), messages=PROMPT) -> None:
        self.engine = ScriptedEngine(lanes=texts or (TEXT,))
        self.engine.send(Compare(1, messages, tuple(lanes)))
        self.comparison = Comparison(1, messages, lanes, LOADED.plain_ms)

    def play(self, steps: int | None = None) -> Comparison:
        """The next steps, or all."""
        self.engine.play(steps)
        return self.fold()

    def cancel(self) -> Comparison:
        self.engine.send(Cancel())
        return self.fold()

    def fold(self) -> Comparison:
        for event in self.engine.drain():
            self.comparison.take(event)
        return self.comparison
