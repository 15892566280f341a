"""Many sequences decoded at once, each at a place of its own: when one ends, the next takes its slot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from transformers import DynamicCache, PreTrainedModel
from transformers.cache_utils import DynamicLayer

from medusa_chat.engine.masks import AttentionPlan

_BLOCK = 128


class SlotLayer(DynamicLayer):  # type: ignore[no-untyped-call]
    """Keys and values of one layer, each [slots, kv_heads, room, width]; a step writes one column of every slot, each
    at its own place."""

    def __init__(self, slots: Slots) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._slots = slots

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        self.dtype, self.device = key_states.dtype, key_states.device
        slots = len(self._slots)
        self.keys = key_states.new_zeros(slots, key_states.shape[1], 0, key_states.shape[-1])
        self.values = value_states.new_zeros(slots, value_states.shape[1], 0, value_states.shape[-1])
        self.is_initialized = True

    def update(self, key_states: Tensor, value_states: Tensor, *_args: Any, **_kwargs: Any) -> tuple[Tensor, Tensor]:
        """Write [slots, kv_heads, 1, width], one column a slot; returns views up to the longest sequence."""
        every, at, width = self._slots.every, self._slots.lengths, self._slots.width
        keys, values = self._room(width, key_states, value_states)
        keys[every, :, at] = key_states[:, :, 0]
        values[every, :, at] = value_states[:, :, 0]
        return keys[:, :, :width], values[:, :, :width]

    def put(self, slot: int, keys: Tensor, values: Tensor) -> None:
        """Fill a slot from its beginning with [kv_heads, n, width]."""
        into_keys, into_values = self._room(keys.shape[1], keys[None], values[None])
        into_keys[slot, :, : keys.shape[1]] = keys
        into_values[slot, :, : values.shape[1]] = values

    def keep(self, rows: Tensor) -> None:
        if self.is_initialized:
            assert self.keys is not None
            assert self.values is not None
            self.keys, self.values = self.keys[rows], self.values[rows]

    def get_seq_length(self) -> int:
        return self._slots.width

    def _room(self, columns: int, key_states: Tensor, value_states: Tensor) -> tuple[Tensor, Tensor]:
        """Both buffers, grown in blocks: what all sequences could come to would not fit."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        assert self.keys is not None
        assert self.values is not None
        if (missing := columns - self.keys.shape[2]) > 0:
            more = -(-missing // _BLOCK) * _BLOCK
            self.keys, self.values = (nn.functional.pad(held, (0, 0, 0, more)) for held in (self.keys, self.values))
        return self.keys, self.values


class Slots:
    """A fixed number of places for sequences that share one forward pass."""

    def __init__(self, model: PreTrainedModel, count: int) -> None:
        config = model.config.get_text_config()
        self._model = model
        self._plan = AttentionPlan.of(config)
        self._additive = not model._supports_sdpa
        self._layers = [SlotLayer(self) for _ in range(config.num_hidden_layers)]
        self._cache = DynamicCache()
        self._cache.layers = list(self._layers)
        self.lengths = torch.zeros(count, dtype=torch.int64, device=model.device)
        """[slots] rows each sequence has in the cache."""
        self.every = torch.arange(count, device=model.device)

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def width(self) -> int:
        """Columns a step looks at: the longest sequence with its new token."""
        return int(self.lengths.max()) + 1

    @torch.inference_mode()
    def fill(self, slots: Sequence[int], prompts: Sequence[Sequence[int]]) -> None:
        """Read all but the last token of each prompt into its slot; the last one is the next step's input."""
        width = max(len(prompt) for prompt in prompts) - 1
        self.lengths[list(slots)] = torch.tensor([len(prompt) - 1 for prompt in prompts], device=self.lengths.device)
        if not width:
            return
        ids = torch.zeros(len(prompts), width, dtype=torch.int64, device=self.lengths.device)
        for row, prompt in enumerate(prompts):
            ids[row, : len(prompt) - 1] = torch.tensor(prompt[:-1])
        # Pads stand at the right, where a causal model never looks from a real token.
        cache = DynamicCache()
        self._model.base_model(input_ids=ids, cache=cache, use_cache=True)
        for into, read in zip(self._layers, cache.layers, strict=True):
            assert isinstance(read, DynamicLayer)
            assert read.keys is not None
            assert read.values is not None
            for row, (slot, prompt) in enumerate(zip(slots, prompts, strict=True)):
                into.put(slot, read.keys[row, :, : len(prompt) - 1], read.values[row, :, : len(prompt) - 1])

    @torch.inference_mode()
    def step(self, tokens: Sequence[int]) -> Tensor:
        """One more token in every slot; returns the logits after it, [slots, vocab_size]."""
        output = self._model(
            input_ids=torch.tensor(tokens, device=self.lengths.device)[:, None],
            position_ids=self.lengths[:, None],
            attention_mask=self._masks(),
            cache=self._cache,
            use_cache=True,
        )
        self.lengths += 1
        logits: Tensor = output.logits[:, -1]
        return logits

    def keep(self, slots: Sequence[int]) -> None:
        """Let go of all others: their rows would be computed for nothing."""
        rows = torch.tensor(slots, device=self.lengths.device)
        for layer in self._layers:
            layer.keep(rows)
        self.lengths, self.every = self.lengths[rows], torch.arange(len(slots), device=rows.device)

    def _masks(self) -> Any:
        """By layer type where a model mixes full and sliding layers; [slots, 1, 1, width]."""
        columns = torch.arange(self.width, device=self.lengths.device)
        seen = columns <= self.lengths[:, None]
        masks = {}
        for kind in sorted(self._plan.layer_types):
            mask = seen
            if kind == "sliding_attention" and self._plan.window is not None:
                mask = seen & (self.lengths[:, None] - columns < self._plan.window)
            mask = mask[:, None, None]
            if self._additive:
                low = torch.finfo(self._model.dtype).min
                mask = torch.zeros_like(mask, dtype=self._model.dtype).masked_fill_(~mask, low)
            masks[kind] = mask
        return masks if len(masks) > 1 else next(iter(masks.values()))
