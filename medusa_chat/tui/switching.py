"""The model the engine has, and the one it was asked for: where the new one fails, the old one comes back."""

from __future__ import annotations

from dataclasses import replace

from medusa_chat.host.messages import Failed, Load, Loaded, Progress
from medusa_chat.host.protocol import Engine
from medusa_chat.tui.own_precisions import AUTO

_LENGTHS_WITHOUT_HEADS = 5
_OF_THE_MODEL = ("refused", "internal")
"""Failures that may be those of a precision. Where memory ran out, "auto" would want more of it."""


class Switch:
    def __init__(self, engine: Engine, model: str, quantize: str = AUTO) -> None:
        """The first one, and what its weights are to be kept in; nothing is asked of the engine yet."""
        self.loaded: Loaded | None = None
        self.loading: Progress | None = Progress("starting the engine")
        self.trouble: str | None = None
        """Why the model asked for last could not be loaded, and what was done about it: one plain sentence or two."""
        self._engine = engine
        self._wanted = Load(model, quantize)
        """What the engine was asked for last."""
        self._settled: Load | None = None

    @property
    def longest(self) -> int:
        """The largest accepted length the loaded heads can reach: the scale of its pictures."""
        return self.loaded.heads + 1 if self.loaded is not None and self.loaded.heads else _LENGTHS_WITHOUT_HEADS

    @property
    def quantize(self) -> str:
        """What the loaded model was to be kept in, a name of `--quantize`; what it is kept in `loaded` says."""
        return self._settled.quantize if self._settled is not None else AUTO

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
        """True where something else is loaded instead: the model there was, as the failure is that of another one, or
        the first one as "auto", where a precision was wanted that is not to be had here."""
        self.trouble = failed.advice
        if self._settled is None:
            if self._wanted.quantize == AUTO or failed.kind not in _OF_THE_MODEL:
                return False
            instead, words = replace(self._wanted, quantize=AUTO), f"It is loaded as {AUTO} instead."
        elif self._settled != self._wanted:
            instead, words = self._settled, f"Until then {self._settled.model} is loaded again."
        else:
            return False
        self._wanted = instead
        self.trouble = f"{failed.advice} {words}"
        self.loading = Progress(f"loading {instead.model} again")
        self._engine.send(instead)
        return True
