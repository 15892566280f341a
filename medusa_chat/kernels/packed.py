"""float32 linear layers whose weights lie packed for few rows: as exact as `nn.Linear`, without its cliff at 2 rows.

MKL's float32 path doubles its time from one row to two; oneDNN over pre-packed weights does not, and reads faster.
The operators are the ones torch's own inductor emits when it freezes weights. They are private, so they are looked
for and checked before use; without them the layers stay as they are.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from medusa_chat.kernels.swap import agrees


class PackedLinear(nn.Module):
    """`nn.Linear` with its weight packed by oneDNN.

    `weight` is kept only where something else reads it (a tied embedding, heads that share the output layer).
    """

    tolerance = 1e-4

    def __init__(self, linear: nn.Linear, *, keep_weight: bool) -> None:
        super().__init__()
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.weight = linear.weight if keep_weight else None
        self.bias = linear.bias
        self._packed = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach(), None)

    def forward(self, rows: Tensor) -> Tensor:
        """[..., in_features] float32 -> [..., out_features] float32."""
        result: Tensor = torch.ops.mkldnn._linear_pointwise(rows, self._packed, self.bias, "none", [], "")
        return result


def packing_works() -> bool:
    """Whether the private operators exist here and agree with `nn.Linear` (self-check on a small layer)."""
    if not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return False
    linear = nn.Linear(48, 32).requires_grad_(False)
    try:
        return agrees(PackedLinear(linear, keep_weight=False), linear, 1e-5)
    except (AttributeError, RuntimeError, NotImplementedError):
        return False
