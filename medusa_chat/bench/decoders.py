"""Our own decoders as contestants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from time import perf_counter

from medusa_chat.bench.memory import peak_bytes
from medusa_chat.bench.timed import Timed
from medusa_chat.engine.options import Decoding, Limits, Sampling
from medusa_chat.engine.step import Step
from medusa_chat.host.session import Session


@dataclass(slots=True)
class OwnDecoder:
    """Greedy decoding by one decoder of a loaded session."""

    session: Session
    decoding: Decoding
    _last_prompt: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.decoding.decoder

    def answer(self, prompt_ids: Sequence[int], max_tokens: int) -> Timed:
        """Times everything a person waits for, detokenising and the loop around the steps included."""
        if not self._continues(prompt_ids):
            # What the contestant before left in the cache would spare this one the reading of the prompt.
            self.session.backbone.rewind(0)
        self._last_prompt = list(prompt_ids)
        steps: list[Step] = []
        began = perf_counter()
        first = began
        answer = self.session.start(prompt_ids, Sampling(), self.decoding, Limits(max_tokens=max_tokens))
        for step in answer:
            steps.append(step)
            if len(steps) == 1:
                first = perf_counter()
        seconds = perf_counter() - began - answer.prefill_seconds
        tokens = tuple(token for step in steps for token in step.tokens)
        return Timed(
            tokens,
            len(tokens),
            len(steps),
            seconds,
            answer.prefill_seconds,
            first_token_seconds=first - began,
            split=split_of(steps),
            nodes=sum(len(step.tree) for step in steps),
            peak_bytes=peak_bytes(),
        )

    def _continues(self, prompt_ids: Sequence[int]) -> bool:
        """Whether this is the next turn of the conversation answered last: its cache is then kept, as in a chat."""
        before = len(self._last_prompt)
        return 0 < before < len(prompt_ids) and list(prompt_ids[:before]) == self._last_prompt


def split_of(steps: Sequence[Step]) -> dict[str, float]:
    """Milliseconds of all steps together, by the parts that are timed."""
    split: Counter[str] = Counter()
    for step in steps:
        split.update({part.name: getattr(step.ms, part.name) for part in fields(step.ms)})
    return dict(split)
