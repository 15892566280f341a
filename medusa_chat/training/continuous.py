"""Continuous batching for making data: no drafting, no streaming, as many tokens per second as it goes.

Sampled tokens are drawn with random numbers that depend on the seed, the request and the token's place alone: whichever
requests share a pass, and wherever a run was broken off, a request gets the same answer (up to rounding of the pass).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from medusa_chat.training.slots import Slots

_END = object()
COMPACT_BELOW = 0.8
"""With nothing left to begin, ended sequences are let go of when fewer than this share still runs: that copies the cache."""


@dataclass(slots=True)
class Request:
    """A prompt and the answer to it, as far as it is written."""

    prompt_ids: tuple[int, ...]
    max_tokens: int
    salt: int = 0
    """Tells its random numbers from those of other requests."""
    temperature: float = 0.0
    """0 takes the most likely token."""
    top_p: float = 1.0
    stop_ids: frozenset[int] = frozenset()
    """Tokens that end the answer; the one that did is its last."""
    answer_ids: list[int] = field(default_factory=list)

    @property
    def ended(self) -> bool:
        return len(self.answer_ids) >= self.max_tokens or bool(self.answer_ids and self.answer_ids[-1] in self.stop_ids)

    def chance(self, seed: int) -> float:
        """The random number, 0..1, of the next token."""
        draw = np.random.Philox(key=[seed, self.salt], counter=len(self.answer_ids))
        return float(np.random.Generator(draw).random())


def answer_all(
    model: PreTrainedModel,
    requests: Iterator[Request | None],
    slots: int,
    seed: int,
    on_step: Callable[[Sequence[Request]], None] = lambda running: None,
) -> Iterator[Request]:
    """Answer requests, `slots` at a time; yields each as soon as it has ended.

    A request is asked for when a slot is free, so it may be made from an answer yielded before: None says that there is
    none as long as nothing ends. Requests with a beginning of an answer go on behind it.

    Args:
        on_step: told, after every step, who is still under way.
    """
    batch = Slots(model, slots)
    running: list[Request | None] = [None] * slots
    more = True
    while True:
        begun: dict[int, Request] = {}
        for slot, there in enumerate(running):
            if there is None and more:
                request = next(requests, _END)
                more = request is not _END
                if not isinstance(request, Request):
                    break
                begun[slot] = request
        if begun:
            batch.fill(list(begun), [(*one.prompt_ids, *one.answer_ids) for one in begun.values()])
            for slot, one in begun.items():
                running[slot] = one
        alive = [slot for slot, one in enumerate(running) if one is not None]
        if not alive:
            return
        if len(alive) < COMPACT_BELOW * len(running) and not more:
            batch.keep(alive)
            running = [running[slot] for slot in alive]
        yield from _step(batch, running, seed)
        on_step([one for one in running if one is not None])


def _step(batch: Slots, running: list[Request | None], seed: int) -> Iterator[Request]:
    """One token more for everyone; yields those who end. Empty slots are computed along and mean nothing."""
    idle = [slot for slot, one in enumerate(running) if one is None]
    batch.lengths[idle] = 0
    logits = batch.step([0 if one is None else (*one.prompt_ids, *one.answer_ids)[-1] for one in running])
    heat = torch.tensor([0.0 if one is None else one.temperature for one in running])
    top_p = torch.tensor([1.0 if one is None else one.top_p for one in running])
    chances = torch.tensor([one.chance(seed) if one is not None and one.temperature else 0.0 for one in running])
    for slot, token in enumerate(choose(logits, heat, top_p, chances).tolist()):
        one = running[slot]
        if one is not None:
            one.answer_ids.append(token)
            if one.ended:
                running[slot] = None
                yield one


def choose(logits: Tensor, temperatures: Tensor, top_p: Tensor, chances: Tensor) -> Tensor:
    """[n] tokens from logits [n, vocab]: the most likely one at temperature 0, else the one where the running sum of
    the nucleus' probabilities, most likely token first, passes the row's chance."""
    tokens = logits.argmax(dim=-1).cpu()
    warm = (temperatures > 0).nonzero()[:, 0]
    if len(warm):
        rows = warm.to(logits.device)
        odds = (logits[rows].float() / temperatures[warm, None].to(logits.device)).softmax(dim=-1)
        best, where = odds.sort(dim=-1, descending=True)
        before = best.cumsum(dim=-1) - best
        nucleus = best.masked_fill(before >= top_p[warm, None].to(best.device), 0.0).cumsum(dim=-1)
        aim = chances[warm, None].to(nucleus.device, nucleus.dtype) * nucleus[:, -1:]
        place = torch.searchsorted(nucleus, aim, right=True).clamp(max=logits.shape[-1] - 1)
        tokens[warm] = where.gather(-1, place)[:, 0].cpu()
    return tokens
