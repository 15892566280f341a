"""The native path: a whole pass in C on the CPU, for llama-like decoders, in full precision or in 8 or 4 bits."""

from __future__ import annotations

import copy
import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

import torch
from torch import Tensor, nn

from medusa_chat.engine.forward.anatomy import Anatomy, LayerAnatomy, is_plain, joined_bias, joined_weight, release
from medusa_chat.engine.tree import CandidateTree
from medusa_chat.kernels.native.decoder import NativeDecoder, NativeLayer, NativeWeights
from medusa_chat.kernels.native.structures import FLOAT, GELU_TANH, INT4, PHASES, SILU
from medusa_chat.kernels.native.weights import BLOCK, LANES, Packed, pack, pack_tight

NativePrecision = Literal["none", "int8", "int4"]
WIDEST_HEAD = 256


class NativeForward:
    """See `base.Forward`. A row's numbers depend on the tokens before it alone, bit for bit: a tree is checked with
    exactly what plain decoding would have computed, in every precision."""

    name = "native"

    def __init__(self, library: ctypes.CDLL, anatomy: Anatomy, precision: NativePrecision) -> None:
        """Copies the weights of an anatomy that `fits`.

        "int8" keeps weights that came out of 4 bits in those 4 bits, which changes none of them; "int4" rounds all
        but the output layer's to 4 bits. Both round activations to 8 bits (kernels/native/linear.h).
        """
        self.library = library
        layers = tuple(_layer(anatomy, layer, precision) for layer in anatomy.layers)
        self._decoder = NativeDecoder(
            library,
            NativeWeights(
                layers,
                final_norm=_floats(anatomy.final_norm),
                output=_pack(anatomy.output.weight, "int8" if precision == "int4" else precision),
                embedding=anatomy.embedding,
                rotary_table=anatomy.rotary_table,
                hidden=anatomy.hidden_size,
                inner=layers[0].down.inputs,
                heads=anatomy.heads,
                kv_heads=anatomy.kv_heads,
                head_dim=anatomy.head_dim,
                activation=SILU if anatomy.activation == "silu" else GELU_TANH,
                eps=anatomy.eps,
                scale=anatomy.scaling,
            ),
        )

    @property
    def length(self) -> int:
        return self._decoder.length

    @property
    def weight_bytes(self) -> int:
        """Bytes of weights that every pass reads."""
        return self._decoder.weight_bytes

    @contextmanager
    def phases(self, spent: dict[str, float]) -> Iterator[None]:
        """Clocks the passes within; `spent` is told the milliseconds of each kind of work."""
        clocks = self._decoder.spent = torch.zeros(len(PHASES), dtype=torch.float64)
        try:
            yield
        finally:
            self._decoder.spent = None
            spent.update(zip(PHASES, clocks.tolist(), strict=True))

    def run(self, tree: CandidateTree, *, last_only: bool) -> tuple[Tensor, Tensor]:
        return self._decoder.step(tree.token_ids, tree.parent_nodes, last_only=last_only)

    def commit(self, path: Sequence[int]) -> None:
        self._decoder.keep(path)

    def rewind(self, length: int) -> None:
        if not 0 <= length <= self.length:
            raise ValueError(f"cannot rewind to {length} rows: {self.length} are committed")
        self._decoder.rewind(length)

    def fork(self, length: int) -> NativeForward:
        other = copy.copy(self)
        other._decoder = self._decoder.fork(length)
        return other


def fits(anatomy: Anatomy) -> bool:
    """Whether the C knows all parts of this decoder: float32 on the CPU, widths that fill its tiles."""
    widths = [anatomy.hidden_size, anatomy.heads * anatomy.head_dim, anatomy.layers[0].down.in_features]
    return (
        anatomy.embedding.device.type == "cpu"
        and anatomy.embedding.dtype == torch.float32
        and all(width % BLOCK == 0 for width in widths)
        and anatomy.head_dim % LANES == 0
        and anatomy.head_dim <= WIDEST_HEAD
        and all(layer.down.in_features == widths[2] and _layer_fits(layer) for layer in anatomy.layers)
        and is_plain([anatomy.output])
        and anatomy.output.bias is None
    )


def take_over(anatomy: Anatomy) -> None:
    """Let go of the float weights that a `NativeForward` has copied; the model's own forward cannot run then."""
    for layer in anatomy.layers:
        release(layer)


def _layer_fits(layer: LayerAnatomy) -> bool:
    linears = [*layer.qkv, layer.attention_output, *layer.gate_up, layer.down]
    return is_plain(linears) and joined_bias([*layer.gate_up, layer.down]) is None


def _layer(anatomy: Anatomy, layer: LayerAnatomy, precision: NativePrecision) -> NativeLayer:
    return NativeLayer(
        qkv=_pack(joined_weight(layer.qkv), precision),
        qkv_bias=_bias(layer.qkv),
        o=_pack(layer.attention_output.weight, precision),
        o_bias=_bias([layer.attention_output]),
        gate_up=_pack(_alternating(joined_weight(layer.gate_up)), precision),
        down=_pack(layer.down.weight, precision),
        attention_norm=_floats(layer.input_norm),
        mlp_norm=_floats(layer.post_norm),
        query_norm=None if layer.query_norm is None else _floats(layer.query_norm),
        key_norm=None if layer.key_norm is None else _floats(layer.key_norm),
        window=layer.window,
        rotary=anatomy.rotary_width if layer.rotates else 0,
    )


def _pack(weight: Tensor, precision: NativePrecision) -> Packed:
    weight = weight.detach()
    match precision:
        case "none":
            return pack(weight, FLOAT)
        case "int8":
            return pack_tight(weight)
        case "int4":
            return pack(weight, INT4)


def _alternating(gate_up: Tensor) -> Tensor:
    """[2 * inner, in], gate above up -> 16 rows of gate and 16 of up in turn."""
    tiles = gate_up.reshape(2, -1, LANES, gate_up.shape[1])
    return tiles.transpose(0, 1).reshape(gate_up.shape)


def _bias(linears: Sequence[nn.Linear]) -> Tensor | None:
    bias = joined_bias(linears)
    return None if bias is None else torch.nn.functional.pad(_floats(bias), (0, -len(bias) % LANES))


def _floats(tensor: Tensor) -> Tensor:
    return tensor.detach().float().contiguous()
