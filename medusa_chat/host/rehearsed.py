"""An engine without a model: the same made-up answer again and again, at a chosen speed. The screen is measured with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import cycle
from time import perf_counter

from medusa_chat.engine.options import Reason
from medusa_chat.host.messages import (
    BeliefRecord,
    Cancel,
    Event,
    Finished,
    Generate,
    Load,
    Loaded,
    RejectionRecord,
    Request,
    Statistics,
    StepRecord,
    StepTaken,
    TreeRecord,
)

ANSWER = """\
## What a lighthouse does

A lighthouse marks a dangerous coast, a hidden shoal or the way into a harbour. Its lamp is small; the **lens** around it
gathers nearly all of the light into a few narrow beams, and a slow motor turns them over the sea.

1. Rings of prisms bend the light that would be lost above and below.
2. Each lighthouse has a rhythm of its own, so that sailors can tell them apart.
3. A keeper once wound the clockwork every four hours, *all night long*.

```python
def flashes(period: float, hours: int) -> int:
    seconds = 3600 * hours
    return int(seconds / period)
```

The rest is patience: oil to carry, brass to polish, a logbook to fill, and the weather to watch. Today most lights look
after themselves, and the last keepers have become guides who show the stairs and the view.

"""
"""Everything that costs something to draw: a heading, paragraphs, a list, code. Repeated as long as an answer asks."""

HIDDEN = ("python",)
"""Words of the answer that Markdown does not show: the language of a block of code."""

PLAIN_MS = 8.0
NODES = 8
_CONTEXT = 1 << 30
"""Any conversation fits."""

_PARENTS = (-1, 0, 0, 1, 1, 3, 3, 5)
_SCORES = (1.0, 0.62, 0.21, 0.48, 0.17, 0.39, 0.11, 0.27)
_SOURCES = ("root", "head 1", "head 1", "head 2", "lookup", "head 3", "recycle", "head 4")
_PATHS = ((0, 1, 3), (0,), (0, 2), (0, 1, 3, 5), (0, 1), (0, 1, 3, 5, 7), (0,), (0, 1, 3))
"""Step after step, round and round: 2.6 tokens each."""
_GUESSES = (" the", ",", " and", " a", " is", " of", " in", ".")


class RehearsedEngine:
    """Implements `host.protocol.Engine` on the caller's own thread: whatever is due by the clock comes with `drain`."""

    def __init__(self, tokens_per_second: float, length: int) -> None:
        """
        Args:
            length: tokens of one answer; its last step may bring a few more.
        """
        self.tokens = 0
        """Delivered so far, in all answers."""
        self._rate = tokens_per_second
        self._length = length
        self._events: list[Event] = []
        self._running: _Running | None = None
        self._texts: list[str] = []

    @property
    def text(self) -> str:
        """Of the newest answer, as far as it was delivered."""
        return "".join(self._texts)

    def start(self, wake: Callable[[], None] | None = None) -> None:
        """Nothing to get ready; whoever drains by a timer needs no waking."""

    def send(self, request: Request) -> None:
        if isinstance(request, Load):
            self._events.append(Loaded(request.model, 4, "no device", "none", _CONTEXT, NODES, PLAIN_MS))
        elif isinstance(request, Generate):
            self._running, self._texts = _Running(request.answer, perf_counter()), []
        elif isinstance(request, Cancel) and self._running is not None:
            self._finish(self._running, "cancelled")

    def drain(self) -> list[Event]:
        if self._running is not None:
            self._deliver(self._running)
        events, self._events = self._events, []
        return events

    def close(self) -> None:
        self._running = None

    def _deliver(self, running: _Running) -> None:
        due = min(self._rate * (perf_counter() - running.begun), self._length)
        steps = []
        while running.tokens < due:
            step = next(running.coming)
            steps.append(step)
            running.tokens += len(step.tokens)
            self.tokens += len(step.tokens)
            self._texts.append(step.text)
        if steps:
            self._events.append(StepTaken(running.answer, tuple(steps)))
        if running.tokens >= self._length:
            self._finish(running, "length")

    def _finish(self, running: _Running, reason: Reason) -> None:
        steps = len(self._texts)
        statistics = Statistics(31, running.tokens, steps, steps * PLAIN_MS / 800, 0.25, PLAIN_MS)
        self._events.append(Finished(running.answer, reason, statistics))
        self._running = None


@dataclass(slots=True)
class _Running:
    answer: int
    begun: float
    tokens: int = 0
    coming: Iterator[StepRecord] = field(default_factory=lambda: _steps())


def _steps() -> Iterator[StepRecord]:
    """Without end; every record is new, as if it had come over a pipe."""
    pieces = cycle(re.findall(r" ?\w+|\s|[^\s\w]", ANSWER))
    root = "\n"
    for index, path in enumerate(cycle(_PATHS), start=1):
        kept = [next(pieces) for _ in path]
        yield _step(index, path, root, kept)
        root = kept[-1]


def _step(index: int, path: tuple[int, ...], root: str, kept: list[str]) -> StepRecord:
    won = dict(zip(path, [root, *kept[:-1]], strict=True))
    texts = tuple(won.get(node) or _GUESSES[(index + node) % len(_GUESSES)] for node in range(NODES))
    chances = tuple(0.7 if node in path else 0.03 / (node + index % 5) for node in range(NODES))
    return StepRecord(
        index=index,
        tree=TreeRecord(tuple(map(_token, texts)), _PARENTS, _SCORES, texts, _SOURCES),
        path=path,
        tokens=tuple(map(_token, kept)),
        text="".join(kept),
        draft_ms=0.9 + 0.1 * (index % 3),
        verify_ms=9.0 + 0.25 * (index % 4),
        accept_ms=0.2,
        commit_ms=0.1,
        reasons=tuple(
            RejectionRecord(node, chances[node])
            for node in range(1, NODES)
            if node not in path and _PARENTS[node] in path
        ),
        plain_ms=PLAIN_MS,
        beliefs=BeliefRecord(
            probabilities=(1.0, *chances[1:]),
            entropies=tuple(4.0 * (1.0 - chance) for chance in chances),
            favourites=tuple(_GUESSES[(index * node) % len(_GUESSES)] for node in range(NODES)),
            certainties=tuple(0.5 + 0.4 * chance for chance in chances),
        ),
    )


def _token(piece: str) -> int:
    """Any number will do, as long as it is the same for the same text."""
    return sum(map(ord, piece)) % 49152
