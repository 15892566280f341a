"""The model the engine has, and the one it was asked for: where the new one fails, the old one comes back."""

from __future__ import annotations

from medusa_chat.host.messages import Failed, Load, Loaded, Progress
from medusa_chat.host.protocol import Engine

_LENGTHS_WITHOUT_HEADS = 5


class Switch:
    def __init__(self, engine: Engine, model: str) -> None:
        """`model` is the first one; nothing is asked of the engine yet."""
        self.loaded: Loaded | None = None
        self.loading: Progress | None = Progress("starting the engine")
        self.trouble: str | None = None
        """Why the model asked for last could not be loaded, and what was done about it: one plain sentence or two."""
        self._engine = engine
        self._wanted = Load(model)
        """What the engine was asked for last."""
        self._settled: Load | None = None

    @property
    def longest(self) -> int:
        """The largest accepted length the loaded heads can reach: the scale of its pictures."""
        return self.loaded.heads + 1 if self.loaded is not None and self.loaded.heads else _LENGTHS_WITHOUT_HEADS

    @property
    def plain_ms(self) -> float | None:
        """Of a plain step of the loaded model, as far as it is known."""
        return self.loaded.plain_ms if self.loaded is not None else None

    def open(self) -> None:
        """Have the first model loaded."""
        self._engine.send(self._wanted)

    def ask(self, model: str, quantize: str) -> None:
        """Have another one loaded, or another precision of it."""
        self._wanted, self.trouble = Load(model, quantize), None
        self.loading = Progress(f"loading {model}")
        self._engine.send(self._wanted)

    def arrived(self, loaded: Loaded) -> None:
        """What was wanted is loaded."""
        self.loaded, self.loading = loaded, None
        if self._wanted != self._settled:
            self._settled, self.trouble = self._wanted, None

    def fail(self, failed: Failed) -> bool:
        """True where the model there was is loaded instead: the failure is that of another one."""
        self.trouble = failed.advice
        if self._settled is None or self._settled == self._wanted:
            return False
        self._wanted = self._settled
        self.trouble = f"{failed.advice} Until then {self._settled.model} is loaded again."
        self.loading = Progress(f"loading {self._settled.model} again")
        self._engine.send(self._wanted)
        return True
