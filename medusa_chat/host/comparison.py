"""One prompt answered in several lanes over one set of weights. Imports torch and transformers."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from time import perf_counter

from medusa_chat.engine.decode import read_prompt
from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.options import Decoding, Limits, Sampling
from medusa_chat.engine.step import Step
from medusa_chat.host.race import fair_turns
from medusa_chat.host.session import Answer, Session


class Comparison:
    """Iterating it decodes, one step of one lane at a time.

    What makes it fair:

    - Turns go by each lane's own engine time (`race.fair_turns`), which counts its steps and nothing else.
    - The prompt is read once, before the clocks run; every lane begins with a copy of its rows.
    - Every lane is a session of its own (`Session.lane`) that knows what was known right after loading, whatever the
      chat or another lane has learned, and leaves nothing behind. The session itself stays as it was, its cache too.
    - All draw the same random numbers: a lossless lane says what plain decoding says, at any temperature.
    - Where a lane decodes plainly, its steps are the plain steps of all. Only where none does, some are timed
      beside the others' (as in a chat, outside every clock).
    """

    def __init__(
        self,
        session: Session,
        prompt_ids: Sequence[int],
        lanes: Sequence[Decoding],
        sampling: Sampling,
        limits: Limits,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Nothing is run yet. `on_progress(done, total)` is told how much of the prompt was read; it may raise to stop
        the reading.

        Raises:
            MedusaError: there are no lanes, or one asks for what this model cannot do.
        """
        if not lanes:
            raise MedusaError("There is nothing to compare; name at least one decoder.")
        for decoding in lanes:
            session.require(decoding)
        self.prompt_ids = prompt_ids
        self.prefill_seconds = 0.0
        self.sampling = _with_seed(sampling)
        """Of all lanes."""
        self.first = session.lane(prompt_ids)
        """The first lane's; when the race is over it may be asked for what plain decoding would have said."""
        self._lanes = lanes
        self._limits = limits
        self._on_progress = on_progress
        self._answers: list[Answer] = []

    @property
    def prompt_tokens(self) -> int:
        return len(self.prompt_ids)

    def __iter__(self) -> Iterator[tuple[int, Step]]:
        """The lane's number and its step. Leaving off between two steps is always safe.

        Raises:
            MedusaError: the prompt is empty or too long for the model.
        """
        began = perf_counter()
        read_prompt(self.first.backbone, self.prompt_ids, self._on_progress)
        self.prefill_seconds = perf_counter() - began
        sessions = [self.first, *(self.first.lane(self.prompt_ids) for _ in self._lanes[1:])]
        probe = all(decoding.decoder != "plain" for decoding in self._lanes)
        self._answers = [
            session.start(self.prompt_ids, self.sampling, decoding, self._limits, probe=probe)
            for session, decoding in zip(sessions, self._lanes, strict=True)
        ]
        yield from fair_turns(self._answers, lambda step: step.ms.total)

    def cancel(self, lane: int) -> str:
        """End a lane's answer between two steps; returns the text that was still held back."""
        return self._answers[lane].cancel() if self._answers else ""


def _with_seed(sampling: Sampling) -> Sampling:
    """A seed for all lanes where they draw and nobody chose one."""
    if sampling.greedy or sampling.seed is not None:
        return sampling
    return replace(sampling, seed=secrets.randbits(31))
