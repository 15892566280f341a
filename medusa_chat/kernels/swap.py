"""Puts a kernel in the place of a linear layer, after seeing that it computes the same."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor, nn

ROWS = 3


class Kernel(Protocol):
    """A kind of layer that takes over the weights of an `nn.Linear`."""

    tolerance: float
    """How far results may be off, relative to the largest."""

    def __call__(self, linear: nn.Linear, *, keep_weight: bool) -> nn.Module:
        """The layer; without `keep_weight` it holds no plain copy of the weight."""


def swapped(linear: nn.Linear, kernel: Kernel, *, keep_weight: bool = False) -> nn.Module:
    """The kernel's layer for a plain float32 one on the CPU; others, and where results differ, stay as they are."""
    if type(linear) is not nn.Linear or linear.weight.dtype != torch.float32 or linear.weight.device.type != "cpu":
        return linear
    layer = kernel(linear, keep_weight=keep_weight)
    return layer if agrees(layer, linear, kernel.tolerance) else linear


def swap_linears(model: nn.Module, kernel: Kernel) -> int:
    """Swap every layer of a model; returns how many.

    The output layer keeps its plain weight beside the kernel's, for heads that share it.
    """
    get_output = getattr(model, "get_output_embeddings", lambda: None)
    output, count = get_output(), 0
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, nn.Linear):
                layer = swapped(child, kernel, keep_weight=child is output)
                setattr(module, name, layer)
                count += layer is not child
    return count


@torch.inference_mode()
def agrees(layer: nn.Module, linear: nn.Linear, tolerance: float) -> bool:
    """Whether both compute the same for some rows."""
    rows: Tensor = torch.linspace(-1.0, 1.0, ROWS * linear.in_features).view(ROWS, -1)
    wanted = linear(rows)
    return bool((layer(rows) - wanted).abs().max() <= tolerance * wanted.abs().max())
