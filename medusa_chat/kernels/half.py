"""Linear layers with weights rounded to 16 bits and everything else in float32: half the memory read per step.

`nn.Linear` in float16 on a CPU costs one pass over the weights for every row; fbgemm's packed float16 weights serve
all rows in one pass and multiply in float32. The operators are looked for and checked before use.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from medusa_chat.kernels.swap import agrees


class HalfLinear(nn.Module):
    """`nn.Linear` with its weight in float16, packed by fbgemm; a row's result depends on no other row.

    `weight` is kept in float32, and only where something else reads it (a tied embedding, heads that share the output
    layer).
    """

    tolerance = 1e-2
    """Weights are off by up to 2^-11 of their own size; a weight beyond float16's range is off by far more."""

    def __init__(self, linear: nn.Linear, *, keep_weight: bool) -> None:
        super().__init__()
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.weight = linear.weight if keep_weight else None
        weight, bias = linear.weight.detach(), None if linear.bias is None else linear.bias.detach()
        if max(-weight.min(), weight.max()) > torch.finfo(torch.float16).max:
            # The operator would cut such weights down where they lie.
            weight = weight.clone()
        self._packed = torch.ops.quantized.linear_prepack_fp16(weight, bias)

    def forward(self, rows: Tensor) -> Tensor:
        """[..., in_features] float32, of two dimensions or more -> [..., out_features] float32."""
        result: Tensor = torch.ops.quantized.linear_dynamic_fp16(rows, self._packed)
        return result


def half_works() -> bool:
    """Whether the operators exist here and agree with `nn.Linear` (self-check on a small layer)."""
    linear = nn.Linear(48, 32).requires_grad_(False)
    try:
        return agrees(HalfLinear(linear, keep_weight=False), linear, HalfLinear.tolerance)
    except (AttributeError, RuntimeError, NotImplementedError):
        return False
