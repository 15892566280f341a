"""When heads may learn: nobody is here, nothing runs, and a person who comes back has the machine to themselves at once."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

IDLE_SECONDS = 180.0
"""Without a key before a lesson begins by itself."""
ASK_EVERY = 60.0
"""Between two looks at whether there is enough to learn from: each reads the file of conversations."""
REST_SECONDS = 1_800.0
"""After a lesson that came to nothing."""


class Verdict(Enum):
    WAIT = auto()
    ASK = auto()
    """Look whether there is enough to learn from, and if so begin."""
    END = auto()
    """The running lesson is to end now."""


@dataclass(slots=True)
class Idleness:
    """All times are of one clock that never goes back, in seconds."""

    touched: float
    """When the person was last here."""
    began: float | None = None
    """When the running lesson did; None while there is none."""
    wanted: bool = False
    """The person began it, and may be here while it runs."""
    _next: float = 0.0

    def touch(self, at: float) -> None:
        self.touched = max(self.touched, at)

    def look(self, now: float, enabled: bool, busy: bool) -> Verdict:
        """`busy`: an answer, a comparison, a pull or the loading of a model is going on."""
        if self.began is not None:
            disturbed = not self.wanted and (not enabled or self.touched > self.began)
            return Verdict.END if busy or disturbed else Verdict.WAIT
        if not enabled or busy or now - self.touched < IDLE_SECONDS or now < self._next:
            return Verdict.WAIT
        self._next = now + ASK_EVERY
        return Verdict.ASK

    def begin(self, now: float, wanted: bool) -> None:
        self.began, self.wanted = now, wanted

    def end(self, now: float, failed: bool) -> None:
        """A lesson that was ended from outside has not failed: the next one goes on with it."""
        self.began, self.wanted = None, False
        self._next = now + (REST_SECONDS if failed else ASK_EVERY)
