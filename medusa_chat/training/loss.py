"""Cross-entropy against sparse targets, in chunks: heads x vocabulary logits never exist all at once."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

CHUNK = 256
"""Rows whose logits are held at a time; few enough to stay in a CPU's cache."""
TINY = 1e-30


class SparseCrossEntropy(torch.autograd.Function):
    """Sum over rows of -sum_j mass[r, j] * log softmax(states[r] @ output.T)[columns[r, j]].

    The gradient is made in the forward pass while a chunk's logits are at hand, so nothing of the size of the
    vocabulary is kept for later.
    """

    @staticmethod
    def forward(ctx: Any, states: Tensor, output: Tensor, columns: Tensor, mass: Tensor) -> Tensor:
        """states [rows, hidden_size], output [vocab, hidden_size], columns and mass [rows, m]."""
        # Cast once: autocast would cast the output layer anew for every chunk.
        low = torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else states.dtype
        weight, rows_low = output.to(low), states.to(low)
        loss = states.new_zeros((), dtype=torch.float32)
        grad_states = torch.empty_like(states)
        grad_output = torch.zeros_like(output) if ctx.needs_input_grad[1] else None
        for start in range(0, len(states), CHUNK):
            rows = slice(start, start + CHUNK)
            odds = (rows_low[rows] @ weight.T).float().softmax(dim=-1)
            loss -= (mass[rows] * odds.gather(-1, columns[rows]).clamp_min(TINY).log()).sum()
            wrong = odds.mul_(mass[rows].sum(dim=-1, keepdim=True)).scatter_add_(-1, columns[rows], -mass[rows]).to(low)
            grad_states[rows] = (wrong @ weight).to(states.dtype)
            if grad_output is not None:
                grad_output += (wrong.T @ rows_low[rows]).to(output.dtype)
        ctx.save_for_backward(grad_states, *([] if grad_output is None else [grad_output]))
        return loss

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        grad_states, *grad_output = ctx.saved_tensors
        return grad_states * grad, grad_output[0] * grad if grad_output else None, None, None


def sparse_cross_entropy(states: Tensor, output: Tensor, columns: Tensor, mass: Tensor) -> Tensor:
    """Scalar loss; see `SparseCrossEntropy`."""
    loss: Tensor = SparseCrossEntropy.apply(states, output, columns, mass)  # type: ignore[no-untyped-call]
    return loss
