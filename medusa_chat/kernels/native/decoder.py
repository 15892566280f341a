"""A whole decoder for the C step: its weights packed, its key-value cache, one call a pass."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

import torch
from torch import Tensor

from medusa_chat.kernels.native import structures
from medusa_chat.kernels.native.crew import Crew
from medusa_chat.kernels.native.weights import LANES, Packed

FIRST_ROWS = 512


@dataclass(frozen=True, slots=True)
class NativeLayer:
    """Norm weights are float32 of the width they scale; `gate_up` has tiles of 16 gate and 16 up outputs in turn."""

    qkv: Packed
    qkv_bias: Tensor | None
    o: Packed
    o_bias: Tensor | None
    gate_up: Packed
    down: Packed
    attention_norm: Tensor
    mlp_norm: Tensor
    query_norm: Tensor | None
    key_norm: Tensor | None
    window: int | None
    rotary: int
    """Leading dimensions of a head that positions turn; 0 for a layer without positions."""


@dataclass(frozen=True, slots=True)
class NativeWeights:
    """What a pass reads."""

    layers: tuple[NativeLayer, ...]
    final_norm: Tensor
    output: Packed
    embedding: Tensor
    """[vocabulary, hidden] float32."""
    rotary_table: Callable[[int], tuple[Tensor, Tensor]]
    """Cosines and sines of so many positions from 0, each [positions, rotary / 2] float32."""
    hidden: int
    inner: int
    heads: int
    kv_heads: int
    head_dim: int
    activation: int
    """`structures.SILU` or `structures.GELU_TANH`."""
    eps: float
    scale: float
    """Of the attention scores."""


class NativeDecoder:
    """One sequence. All arithmetic is float32 but the byte products of low-bit layers (linear.h says how they round)."""

    def __init__(self, library: ctypes.CDLL, weights: NativeWeights) -> None:
        self._library, self._weights = library, weights
        self._model, self._layers = _model(weights)
        self._scratch = torch.empty(0, dtype=torch.uint8)
        self._crew = Crew()
        self._keys: list[Tensor] = []
        self._values: list[Tensor] = []
        self._capacity = self.length = 0
        self.spent: Tensor | None = None
        """[phases] float64: milliseconds of each of `structures.PHASES`, added up from pass to pass when set."""
        self._reserve(FIRST_ROWS)

    @property
    def weight_bytes(self) -> int:
        """Read by every pass."""
        packed = [one for layer in self._weights.layers for one in (layer.qkv, layer.o, layer.gate_up, layer.down)]
        return sum(len(one.data) for one in [*packed, self._weights.output])

    def step(self, tokens: Sequence[int], parents: Sequence[int], *, last_only: bool) -> tuple[Tensor, Tensor]:
        """Write the rows of n nodes behind the committed ones; returns logits and hidden states, float32."""
        n, weights = len(tokens), self._weights
        kept = 1 if last_only else n
        self._reserve(self.length + n)
        self._model.threads = self._crew.size
        x = weights.embedding.index_select(0, torch.tensor(tokens))
        logits = torch.empty(kept, weights.output.outputs)
        hidden = torch.empty(kept, weights.hidden)
        self._room_for(n)
        order = (ctypes.c_int32 * n)(*parents)
        began = perf_counter()
        self._library.medusa_step(
            self._model,
            structures.Pass(
                n,
                self.length,
                self._capacity,
                int(last_only),
                ctypes.addressof(order),
                x.data_ptr(),
                self._cosine.data_ptr(),
                self._sine.data_ptr(),
                ctypes.addressof(self._key_pointers),
                ctypes.addressof(self._value_pointers),
                hidden.data_ptr(),
                logits.data_ptr(),
                self._scratch.data_ptr(),
                _pointer(self.spent),
            ),
        )
        self._crew.took(n, 1000.0 * (perf_counter() - began))
        return logits, hidden

    def keep(self, path: Sequence[int]) -> None:
        """Commit the rows of these nodes (rising), in that order."""
        rows = (ctypes.c_int32 * len(path))(*path)
        self._library.medusa_keep(
            self._model,
            ctypes.addressof(self._key_pointers),
            ctypes.addressof(self._value_pointers),
            self._capacity,
            self.length,
            ctypes.addressof(rows),
            len(path),
        )
        self.length += len(path)

    def rewind(self, length: int) -> None:
        self.length = length

    def fork(self, length: int) -> NativeDecoder:
        """Another sequence over the same weights, which begins with copies of the first `length` committed rows. How
        many threads pay is a matter of the machine: both know what either finds out."""
        other = NativeDecoder(self._library, self._weights)
        other._crew = self._crew
        other._reserve(length)
        other._take_rows(self._keys, self._values, length)
        other.length = length
        return other

    def _reserve(self, rows: int) -> None:
        """Grow by doubling: rows are copied rarely, memory is taken only as it is needed."""
        if rows <= self._capacity:
            return
        capacity = max(FIRST_ROWS, 1 << (rows - 1).bit_length())
        w, former_keys, former_values = self._weights, self._keys, self._values
        keys = [torch.empty(w.kv_heads, capacity // LANES, w.head_dim, LANES) for _ in w.layers]
        values = [torch.empty(w.kv_heads, capacity, w.head_dim) for _ in w.layers]
        self._keys, self._values, self._capacity = keys, values, capacity
        self._take_rows(former_keys, former_values, self.length)
        self._key_pointers = (ctypes.c_void_p * len(keys))(*(key.data_ptr() for key in keys))
        self._value_pointers = (ctypes.c_void_p * len(values))(*(value.data_ptr() for value in values))
        cosine, sine = w.rotary_table(capacity)
        self._cosine, self._sine = cosine.float().contiguous(), sine.float().contiguous()

    def _take_rows(self, keys: Sequence[Tensor], values: Sequence[Tensor], count: int) -> None:
        """Copy the first `count` rows out of other buffers, by layer."""
        blocks = -(-count // LANES)
        for own, other in zip(self._keys, keys, strict=False):
            own[:, :blocks] = other[:, :blocks]
        for own, other in zip(self._values, values, strict=False):
            own[:, :count] = other[:, :count]

    def _room_for(self, n: int) -> None:
        size = self._library.medusa_scratch_bytes(self._model, n, self.length + n)
        if size > len(self._scratch):
            self._scratch = torch.empty(size + size // 4, dtype=torch.uint8)


def _model(w: NativeWeights) -> tuple[structures.Model, ctypes.Array[structures.Layer]]:
    """The C structures; they point into the tensors of `w`, which must stay."""
    layers = (structures.Layer * len(w.layers))()
    for layer, own in zip(layers, w.layers, strict=True):
        layer.qkv, layer.o = _linear(own.qkv, own.qkv_bias), _linear(own.o, own.o_bias)
        layer.gate_up, layer.down = _linear(own.gate_up), _linear(own.down)
        layer.attention_norm, layer.mlp_norm = own.attention_norm.data_ptr(), own.mlp_norm.data_ptr()
        layer.query_norm, layer.key_norm = _pointer(own.query_norm), _pointer(own.key_norm)
        layer.window, layer.rotary = own.window or 0, own.rotary
    model = structures.Model(
        len(w.layers),
        w.hidden,
        w.inner,
        w.heads,
        w.kv_heads,
        w.head_dim,
        w.activation,
        1,
        w.eps,
        w.scale,
        ctypes.addressof(layers),
        w.final_norm.data_ptr(),
        _linear(w.output),
    )
    return model, layers


def _linear(packed: Packed, bias: Tensor | None = None) -> structures.Linear:
    return structures.Linear(packed.kind, packed.inputs, packed.outputs, 0, packed.data.data_ptr(), _pointer(bias))


def _pointer(tensor: Tensor | None) -> int | None:
    return None if tensor is None else tensor.data_ptr()
