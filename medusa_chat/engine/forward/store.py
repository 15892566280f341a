"""Keys and values of all layers in one buffer, which takes a tree's rows on trial and keeps one path of them."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

BLOCK_ROWS = 256


class RowStore:
    """`buffer` is [2 * layers, 1, kv_heads, capacity, head_dim]: keys of all layers, then their values.

    One buffer, so that committing a path is one copy whatever the number of layers.
    """

    def __init__(self, layers: int, kv_heads: int, head_dim: int, like: Tensor) -> None:
        """`like` gives dtype and device."""
        self.length = 0
        """Committed rows."""
        self._layers = layers
        self._buffer = like.new_empty(2 * layers, 1, kv_heads, 0, head_dim)

    def fork(self, length: int) -> RowStore:
        """Another store that begins with copies of the first `length` committed rows."""
        _, _, kv_heads, _, head_dim = self._buffer.shape
        other = RowStore(self._layers, kv_heads, head_dim, self._buffer)
        other.reserve(length)
        other._buffer[:, :, :, :length] = self._buffer[:, :, :, :length]
        other.length = length
        return other

    @property
    def capacity(self) -> int:
        """Rows there is memory for."""
        return self._buffer.shape[3]

    def reserve(self, rows: int) -> None:
        """Make room for `rows` in all; by a quarter more than before at least, so that long texts copy rarely."""
        if rows > self.capacity:
            blocks = -(-max(rows, self.capacity * 5 // 4) // BLOCK_ROWS)
            shape = list(self._buffer.shape)
            shape[3] = blocks * BLOCK_ROWS
            grown = self._buffer.new_empty(shape)
            grown[:, :, :, : self.length] = self._buffer[:, :, :, : self.length]
            self._buffer = grown

    def views(self, start: int, end: int) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
        """Keys and values by layer, each [1, kv_heads, end - start, head_dim] of the buffer itself."""
        by_layer = self._buffer[:, :, :, start:end].unbind(0)
        return by_layer[: self._layers], by_layer[self._layers :]

    def commit(self, path: Sequence[int]) -> None:
        """Of the rows written behind the committed ones keep those at the offsets `path` (rising), in that order."""
        count = len(path)
        if list(path) != list(range(count)):
            rows = torch.tensor(path, device=self._buffer.device)
            trial = self._buffer[:, :, :, self.length :]
            trial[:, :, :, :count] = trial.index_select(3, rows)
        self.length += count

    def rewind(self, length: int) -> None:
        """Forget all rows from `length` on.

        Raises:
            ValueError: `length` lies beyond what is committed.
        """
        if not 0 <= length <= self.length:
            raise ValueError(f"cannot rewind to {length} rows: {self.length} are committed")
        self.length = length
