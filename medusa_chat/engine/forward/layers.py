"""The linear layers of the lean path: projections of the same rows merged into one product where weights allow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from medusa_chat.engine.forward.anatomy import Anatomy, LayerAnatomy, is_plain, joined_bias, joined_weight, release
from medusa_chat.kernels.swap import Kernel, swapped

Projection = Callable[[Tensor], Sequence[Tensor]]
"""Rows [n, in_features] to several results, each [n, some features]."""


@dataclass(frozen=True, slots=True)
class LeanLayer:
    """One decoder layer, ready to run; see `LayerAnatomy`."""

    input_norm: Tensor
    qkv: Projection
    """(queries and keys, values), or all three apart."""
    head_norms: Tensor | None
    """[heads + kv_heads, head_dim]: query norm for each query head, key norm for each key head."""
    rotates: bool
    window: int | None
    attention_output: nn.Module
    post_norm: Tensor
    gate_up: Projection
    down: nn.Module


def lean_layer(anatomy: Anatomy, layer: LayerAnatomy, kernel: Kernel | None, take_over: bool) -> LeanLayer:
    """With `take_over` plain weights move into new linear layers, made by `kernel` where given."""
    keys = anatomy.kv_heads * anatomy.head_dim
    queries_and_keys = anatomy.heads * anatomy.head_dim + keys
    half = sum(linear.out_features for linear in layer.gate_up) // 2
    head_norms = None
    if layer.query_norm is not None and layer.key_norm is not None:
        counts = torch.tensor([anatomy.heads, anatomy.kv_heads], device=layer.query_norm.device)
        head_norms = torch.stack([layer.query_norm, layer.key_norm]).repeat_interleave(counts, dim=0)
    lean = LeanLayer(
        input_norm=layer.input_norm,
        qkv=_projection(layer.qkv, [queries_and_keys, keys], kernel, take_over),
        head_norms=head_norms,
        rotates=layer.rotates,
        window=layer.window,
        attention_output=_single(layer.attention_output, kernel, take_over),
        post_norm=layer.post_norm,
        gate_up=_projection(layer.gate_up, [half, half], kernel, take_over),
        down=_single(layer.down, kernel, take_over),
    )
    if take_over:
        # At once, or all weights would lie in memory twice for a while.
        release(layer)
    return lean


def output_layer(anatomy: Anatomy, kernel: Kernel | None, take_over: bool) -> nn.Module:
    """The kernel's layer; the model's own output layer keeps its weight beside it, for heads that share it."""
    return swapped(anatomy.output, kernel) if take_over and kernel is not None else anatomy.output


def _projection(linears: Sequence[nn.Linear], sizes: list[int], kernel: Kernel | None, take_over: bool) -> Projection:
    if len(linears) > 1 and not (take_over and is_plain(linears)):
        return lambda rows: [linear(rows) for linear in linears]
    layer = _kernel(linears, kernel) if take_over else linears[0]
    return lambda rows: layer(rows).split(sizes, dim=-1)


def _single(linear: nn.Linear, kernel: Kernel | None, take_over: bool) -> nn.Module:
    return _kernel([linear], kernel) if take_over else linear


def _kernel(linears: Sequence[nn.Linear], kernel: Kernel | None) -> nn.Module:
    """One layer for all, or the only one as it is where it is not plain."""
    if not is_plain(linears):
        return linears[0]
    weight, bias = joined_weight(linears), joined_bias(linears)
    joined = nn.Linear(weight.shape[1], weight.shape[0], bias=False, device="meta")
    joined.weight = nn.Parameter(weight, requires_grad=False)
    joined.register_parameter("bias", None if bias is None else nn.Parameter(bias, requires_grad=False))
    return joined if kernel is None else swapped(joined, kernel)
