"""The lean path: llama-like decoders in few Python operations per layer, over the weights the model was loaded with.

transformers' forward spends 20 ms of Python on 30 layers, a third of a small model's step. Here projections that read
the same rows are one product, queries and keys are rotated together, query heads that share a key are folded into the
query axis instead of copying keys, and masks are made once a step.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import embedding, gelu, rms_norm, scaled_dot_product_attention, silu

from medusa_chat.engine.forward.anatomy import Anatomy
from medusa_chat.engine.forward.layers import LeanLayer, lean_layer, output_layer
from medusa_chat.engine.forward.store import RowStore
from medusa_chat.engine.tree import CandidateTree
from medusa_chat.kernels.swap import Kernel


@dataclass(frozen=True, slots=True)
class _Step:
    """What all layers share in one pass over n rows."""

    cosines: Tensor
    """[n, 1, rotary_width]."""
    sines: Tensor
    """[n, 1, rotary_width], the first half negated."""
    masks: dict[int | None, Tensor | None]
    """By window: additive [groups * n, rows], or None where every row sees everything."""


class LeanForward:
    """See `base.Forward`."""

    name = "lean"

    def __init__(self, anatomy: Anatomy, kernel: Kernel | None = None, *, take_over: bool = True) -> None:
        """`kernel` makes the linear layers; None multiplies with the weights as they are.

        With `take_over` the weights are merged and the model's own layers lose them, so it cannot run any more;
        without, the model's layers are called and stay as they are.
        """
        self._anatomy = anatomy
        self._layers = [lean_layer(anatomy, layer, kernel, take_over) for layer in anatomy.layers]
        self._output = output_layer(anatomy, kernel, take_over)
        self._activate = silu if anatomy.activation == "silu" else _gelu_tanh
        self._groups = anatomy.heads // anatomy.kv_heads
        self._windows = {layer.window for layer in anatomy.layers}
        self._store = RowStore(len(anatomy.layers), anatomy.kv_heads, anatomy.head_dim, anatomy.embedding)
        self._cosines = self._sines = anatomy.embedding.new_empty(0)

    @property
    def length(self) -> int:
        return self._store.length

    def commit(self, path: Sequence[int]) -> None:
        self._store.commit(path)

    def rewind(self, length: int) -> None:
        self._store.rewind(length)

    def fork(self, length: int) -> LeanForward:
        other = copy.copy(self)
        other._store = self._store.fork(length)
        return other

    def run(self, tree: CandidateTree, *, last_only: bool) -> tuple[Tensor, Tensor]:
        end = self.length + len(tree)
        self._reserve(end)
        step = self._prepare(tree)
        new_keys, new_values = self._store.views(self.length, end)
        keys, values = self._store.views(0, end)
        table = self._anatomy.embedding
        stream = embedding(tree.tokens.to(table.device), table)
        for layer, new_key, new_value, key, value in zip(self._layers, new_keys, new_values, keys, values, strict=True):
            queries = self._project(layer, stream, step, new_key[0], new_value[0])
            mixed = self._attend(queries, key, value, step.masks[layer.window])
            stream = stream + layer.attention_output(mixed)
            normed = rms_norm(stream, stream.shape[1:], layer.post_norm, self._anatomy.eps)
            gate, up = layer.gate_up(normed)
            stream = stream + layer.down(self._activate(gate) * up)
        if last_only:
            stream = stream[-1:]
        hidden = rms_norm(stream, stream.shape[1:], self._anatomy.final_norm, self._anatomy.eps)
        return self._output(hidden), hidden

    def _project(self, layer: LeanLayer, stream: Tensor, step: _Step, new_key: Tensor, new_value: Tensor) -> Tensor:
        """Queries [heads, n, head_dim]; keys and values are written to the cache, [kv_heads, n, head_dim] each."""
        anatomy = self._anatomy
        normed = rms_norm(stream, stream.shape[1:], layer.input_norm, anatomy.eps)
        *rotated, value = layer.qkv(normed)
        joined = rotated[0] if len(rotated) == 1 else torch.cat(rotated, dim=-1)
        heads = joined.view(len(stream), -1, anatomy.head_dim)
        if layer.head_norms is not None:
            heads = rms_norm(heads, (anatomy.head_dim,), None, anatomy.eps) * layer.head_norms
        if layer.rotates:
            heads = _rotate(heads, step)
        by_head = heads.transpose(0, 1)
        new_key.copy_(by_head[anatomy.heads :])
        new_value.copy_(value.view(len(stream), -1, anatomy.head_dim).transpose(0, 1))
        return by_head[: anatomy.heads]

    def _attend(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        """[heads, n, head_dim] over [1, kv_heads, rows, head_dim] -> [n, heads * head_dim]."""
        heads, count, width = queries.shape
        folded = queries.reshape(1, heads // self._groups, self._groups * count, width)
        mixed = scaled_dot_product_attention(folded, keys, values, mask, scale=self._anatomy.scaling)
        return mixed.view(heads, count, width).transpose(0, 1).reshape(count, heads * width)

    def _reserve(self, rows: int) -> None:
        """Memory and rotary tables for `rows` rows."""
        self._store.reserve(rows)
        if len(self._cosines) < self._store.capacity:
            cosines, sines = (
                part.to(self._anatomy.embedding.dtype) for part in self._anatomy.rotary_table(self._store.capacity)
            )
            self._cosines = torch.cat([cosines, cosines], dim=1)[:, None]
            self._sines = torch.cat([-sines, sines], dim=1)[:, None]

    def _prepare(self, tree: CandidateTree) -> _Step:
        device = self._anatomy.embedding.device
        depths = tree.depths()
        last = self.length + int(depths.max())
        positions = (self.length + depths).to(device)
        masks: dict[int | None, Tensor | None] = {}
        for window in self._windows:
            limit = None if window is None or last < window else window
            masks[window] = None if len(tree) == 1 and limit is None else self._mask(tree, positions, limit)
        return _Step(self._cosines[positions], self._sines[positions], masks)

    def _mask(self, tree: CandidateTree, positions: Tensor, window: int | None) -> Tensor:
        """Additive [groups * n, committed rows + n], for queries of a group one after the other."""
        start, device = self.length, positions.device
        mask = self._anatomy.embedding.new_zeros(len(tree), start + len(tree))
        mask[:, start:].masked_fill_(~tree.ancestry().to(device), -torch.inf)
        if window is not None:
            columns = torch.cat([torch.arange(start, device=device), positions])
            mask.masked_fill_(positions[:, None] - columns >= window, -torch.inf)
        return mask.repeat(self._groups, 1)


def _rotate(heads: Tensor, step: _Step) -> Tensor:
    """[n, any heads, head_dim], of which the first entries are rotated: i with i + half of their number."""
    width = step.cosines.shape[-1]
    part = heads[..., :width]
    turned = torch.addcmul(part * step.cosines, part.roll(width // 2, -1), step.sines)
    return turned if width == heads.shape[-1] else torch.cat([turned, heads[..., width:]], dim=-1)


def _gelu_tanh(gate: Tensor) -> Tensor:
    return gelu(gate, approximate="tanh")
