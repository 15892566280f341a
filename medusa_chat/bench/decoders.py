"""Our own decoders as contestants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

from medusa_chat.bench.timed import Timed
from medusa_chat.engine.options import Decoding, Limits, Sampling
from medusa_chat.host.session import Session


@dataclass(frozen=True, slots=True)
class OwnDecoder:
    """Greedy decoding by one decoder of a loaded session."""

    session: Session
    decoding: Decoding

    @property
    def name(self) -> str:
        return self.decoding.decoder

    def answer(self, prompt_ids: Sequence[int], max_tokens: int) -> Timed:
        """Times everything a person waits for, detokenising and the loop around the steps included."""
        # What the contestant before left in the cache would spare this one the reading of the prompt.
        self.session.backbone.rewind(0)
        began = perf_counter()
        answer = self.session.start(prompt_ids, Sampling(), self.decoding, Limits(max_tokens=max_tokens))
        steps = [step.tokens for step in answer]
        seconds = perf_counter() - began - answer.prefill_seconds
        tokens = tuple(token for step in steps for token in step)
        return Timed(tokens, len(tokens), len(steps), seconds, answer.prefill_seconds)
