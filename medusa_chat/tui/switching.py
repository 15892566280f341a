"""Which model the engine has and which one it was asked for: where the new one fails, the old one comes back."""

from __future__ import annotations

from medusa_chat.host.messages import Failed, Load


class Switch:
    """`wanted` is what the engine was asked for last."""

    def __init__(self, first: Load) -> None:
        self.wanted = first
        self.trouble: str | None = None
        """Why the model asked for last could not be loaded, and what was done about it: one plain sentence or two."""
        self._settled: Load | None = None

    def ask(self, load: Load) -> None:
        self.wanted, self.trouble = load, None

    def arrived(self) -> None:
        """What was wanted is loaded."""
        if self.wanted != self._settled:
            self._settled, self.trouble = self.wanted, None

    def fail(self, failed: Failed) -> Load | None:
        """What to load instead: the model there was, if the failure is that of another one."""
        self.trouble = failed.advice
        if self._settled is None or self._settled == self.wanted:
            return None
        self.wanted = self._settled
        self.trouble = f"{failed.advice} Until then {self._settled.model} is loaded again."
        return self.wanted
