"""Decoding many prompts at once, for making data: no drafting, no streaming, as many tokens per second as it goes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache, PreTrainedModel
from transformers.cache_utils import DynamicLayer

COMPACT_BELOW = 0.8
"""Finished rows are dropped from the batch when fewer than this share still runs; dropping copies the whole cache."""


@dataclass(frozen=True, slots=True)
class Finished:
    """One answer of a batch."""

    row: int
    """Index into the prompts given."""
    answer_ids: tuple[int, ...]


class RoomyLayer(DynamicLayer):  # type: ignore[no-untyped-call]
    """A cache layer with all its room from the start: a step writes one column instead of copying the whole cache."""

    def __init__(self, room: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.room = room
        self.filled = 0

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        self.device = key_states.device
        batch, heads, _, width = key_states.shape
        self.keys = key_states.new_zeros(batch, heads, self.room, width)
        self.values = value_states.new_zeros(batch, heads, self.room, value_states.shape[-1])
        self.is_initialized = True

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        assert self.keys is not None
        assert self.values is not None
        end = self.filled + key_states.shape[-2]
        self.keys[:, :, self.filled : end] = key_states
        self.values[:, :, self.filled : end] = value_states
        self.filled = end
        return self.keys[:, :, :end], self.values[:, :, :end]

    def get_seq_length(self) -> int:
        return self.filled


def answer_batch(
    model: PreTrainedModel,
    prompts: Sequence[Sequence[int]],
    temperatures: Sequence[float],
    max_tokens: int,
    eos_ids: frozenset[int],
    generator: torch.Generator,
) -> Iterator[Finished]:
    """Answer several prompts together; yields each answer as soon as it ends.

    Prompts are padded on the left, so prompts of like length belong together. Temperature 0 takes the most likely
    token. An answer ends with an end token (kept) or after `max_tokens` tokens.
    """
    width = max(map(len, prompts))
    device = model.device
    attended = torch.zeros(len(prompts), width + max_tokens, dtype=torch.int64, device=device)
    ids = torch.zeros(len(prompts), width, dtype=torch.int64, device=device)
    for row, prompt in enumerate(prompts):
        ids[row, width - len(prompt) :] = torch.tensor(prompt, device=device)
        attended[row, width - len(prompt) : width] = 1
    positions = (attended[:, :width].cumsum(dim=1) - 1).clamp(min=0)
    cache = DynamicCache()
    cache.layers = [RoomyLayer(width + max_tokens) for _ in range(model.config.get_text_config().num_hidden_layers)]
    heat = torch.tensor(temperatures, dtype=torch.float32, device=device)
    rows = list(range(len(prompts)))
    answers: list[list[int]] = [[] for _ in prompts]
    running = torch.ones(len(prompts), dtype=torch.bool)
    for length in range(width, width + max_tokens):
        output = model(
            input_ids=ids,
            attention_mask=attended[:, :length],
            position_ids=positions,
            cache=cache,
            use_cache=True,
            logits_to_keep=1,
        )
        ids = choose(output.logits[:, -1], heat, generator)[:, None]
        attended[:, length] = 1
        positions = positions[:, -1:] + 1
        last = length + 1 == width + max_tokens
        for slot, token in enumerate(ids[:, 0].tolist()):
            if not running[slot]:
                continue
            answers[rows[slot]].append(token)
            if token in eos_ids or last:
                running[slot] = False
                yield Finished(rows[slot], tuple(answers[rows[slot]]))
        if not running.any():
            return
        if running.sum() < COMPACT_BELOW * len(rows):
            keep = running.nonzero()[:, 0]
            cache.batch_select_indices(keep.to(device))
            rows = [rows[slot] for slot in keep.tolist()]
            ids, attended, positions, heat = (tensor[keep.to(device)] for tensor in (ids, attended, positions, heat))
            running = torch.ones(len(rows), dtype=torch.bool)


def choose(logits: Tensor, temperatures: Tensor, generator: torch.Generator) -> Tensor:
    """[n] tokens from logits [n, vocab]: the most likely one at temperature 0, else drawn."""
    tokens = logits.argmax(dim=-1)
    warm = (temperatures > 0).nonzero()[:, 0]
    if len(warm):
        odds = (logits[warm].float() / temperatures[warm, None]).softmax(dim=-1).cumsum(dim=-1)
        # One uniform number per row through the inverse distribution: torch.multinomial draws one per vocabulary entry.
        aim = torch.rand(len(warm), 1, generator=generator, device=logits.device) * odds[:, -1:]
        tokens[warm] = torch.searchsorted(odds, aim, right=True)[:, 0].clamp(max=logits.shape[-1] - 1)
    return tokens
