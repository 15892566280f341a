"""A key-value cache that takes a whole tree's rows on trial and keeps only the accepted ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from transformers.cache_utils import Cache, CacheLayerMixin

BLOCK_ROWS = 256


class TreeCacheLayer(CacheLayerMixin):  # type: ignore[no-untyped-call]
    """Keys and values of one attention layer, each [1, kv_heads, capacity, head_dim].

    `update` writes rows behind the committed ones without advancing; only `keep` advances. Full attention for every
    layer: sliding windows live in the mask, because a window that drops rows could not be rewound.
    """

    is_sliding = False
    keys: Tensor
    values: Tensor

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.length = 0

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        self.dtype, self.device = key_states.dtype, key_states.device
        self.keys = _empty_like(key_states, 0)
        self.values = _empty_like(value_states, 0)
        self.is_initialized = True

    def update(self, key_states: Tensor, value_states: Tensor, *_args: Any, **_kwargs: Any) -> tuple[Tensor, Tensor]:
        """Write [1, kv_heads, n, head_dim] on trial; returns views of all committed rows and these n."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        end = self.length + key_states.shape[2]
        self._reserve(end)
        self.keys[:, :, self.length : end] = key_states
        self.values[:, :, self.length : end] = value_states
        return self.keys[:, :, :end], self.values[:, :, :end]

    def keep(self, rows: Tensor | None, count: int) -> None:
        """Advance over `count` trial rows; `rows` [count] int64 says which, None means the first ones as they lie."""
        if rows is not None:
            for buffer in (self.keys, self.values):
                trial = buffer[:, :, self.length :]
                trial[:, :, :count] = trial.index_select(2, rows)
        self.length += count

    def take_rows(self, source: TreeCacheLayer, count: int) -> None:
        """Begin with copies of the first `count` committed rows of another layer of the same shape."""
        if not source.is_initialized:
            return
        self.lazy_initialization(source.keys, source.values)
        self._reserve(count)
        self.keys[:, :, :count] = source.keys[:, :, :count]
        self.values[:, :, :count] = source.values[:, :, :count]
        self.length = count

    def _reserve(self, rows: int) -> None:
        if rows > self.keys.shape[2]:
            capacity = -(-rows // BLOCK_ROWS) * BLOCK_ROWS
            self.keys = _grown(self.keys, capacity, self.length)
            self.values = _grown(self.values, capacity, self.length)

    def get_seq_length(self) -> int:
        return self.length

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self.length + query_length, 0

    def get_max_length(self) -> int:
        return -1


class TreeCache(Cache):
    """One `TreeCacheLayer` per decoder layer; all advance together."""

    def __init__(self, layers: int) -> None:
        self._rows = [TreeCacheLayer() for _ in range(layers)]
        super().__init__(layers=[*self._rows])

    @property
    def length(self) -> int:
        """Committed rows."""
        return self._rows[0].length

    def commit(self, path: Sequence[int]) -> None:
        """Of the rows written on trial keep those at the offsets `path` (rising), in that order."""
        in_place = list(path) == list(range(len(path)))
        rows = None if in_place else torch.tensor(path, device=self._rows[0].keys.device)
        for layer in self._rows:
            layer.keep(rows, len(path))

    def rewind(self, length: int) -> None:
        """Forget all rows from `length` on.

        Raises:
            ValueError: `length` lies beyond what is committed.
        """
        if not 0 <= length <= self.length:
            raise ValueError(f"cannot rewind to {length} rows: {self.length} are committed")
        for layer in self._rows:
            layer.length = length

    def fork(self, length: int) -> TreeCache:
        """Another cache that begins with copies of the first `length` committed rows."""
        other = TreeCache(len(self._rows))
        for own, layer in zip(self._rows, other._rows, strict=True):
            layer.take_rows(own, length)
        return other


def _empty_like(states: Tensor, rows: int) -> Tensor:
    return states.new_empty((states.shape[0], states.shape[1], rows, states.shape[3]))


def _grown(buffer: Tensor, capacity: int, used: int) -> Tensor:
    grown = _empty_like(buffer, capacity)
    grown[:, :, :used] = buffer[:, :, :used]
    return grown
