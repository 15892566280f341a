"""Losses against sparse targets and against a teacher, in chunks: rows x vocabulary logits never exist all at once.

Gradients are made in the forward pass while a chunk's logits are at hand, so nothing of the size of the vocabulary is
kept for later.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

CHUNK = 256
"""Rows whose logits are held at a time; few enough to stay in a CPU's cache."""
TINY = 1e-30


class SparseLoss(torch.autograd.Function):
    """Sum over rows of -sum_j mass[r, j] log q[columns[r, j]] - overlap[r] log sum_j min(odds[r, j], q[columns[r, j]]),
    with q = softmax(states[r] @ output.T).

    The first part is cross-entropy. The second is the acceptance loss: the sum is the chance that a guess drawn from q
    is kept under rejection sampling against the teacher (up to the teacher's tokens left out of `odds`).
    """

    @staticmethod
    def forward(
        ctx: Any, states: Tensor, output: Tensor, columns: Tensor, mass: Tensor, odds: Tensor, overlap: Tensor
    ) -> Tensor:
        """states [rows, hidden_size], output [vocab, hidden_size]; columns, mass, odds [rows, m]; overlap [rows]."""
        # Cast once: autocast would cast the output layer anew for every chunk.
        low = _low(states)
        weight, rows_low = output.to(low), states.to(low)
        loss = states.new_zeros((), dtype=torch.float32)
        grad_states = torch.empty_like(states)
        grad_output = torch.zeros_like(output) if ctx.needs_input_grad[1] else None
        overlaps = bool(overlap.any())
        for start in range(0, len(states), CHUNK):
            rows = slice(start, start + CHUNK)
            chances = (rows_low[rows] @ weight.T).float().softmax(dim=-1)
            at = chances.gather(-1, columns[rows])
            pull = mass[rows]
            loss -= (pull * at.clamp_min(TINY).log()).sum()
            if overlaps:
                kept = torch.minimum(odds[rows], at).sum(dim=-1).clamp_min(TINY)
                loss -= (overlap[rows] * kept.log()).sum()
                # Only where q is the smaller one does more of it keep more.
                pull = pull + (overlap[rows] / kept)[:, None] * at * (at < odds[rows])
            wrong = chances.mul_(pull.sum(dim=-1, keepdim=True)).scatter_add_(-1, columns[rows], -pull).to(low)
            grad_states[rows] = (wrong @ weight).to(states.dtype)
            if grad_output is not None:
                grad_output += (wrong.T @ rows_low[rows]).to(output.dtype)
        ctx.save_for_backward(grad_states, *([] if grad_output is None else [grad_output]))
        return loss

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        grad_states, *grad_output = ctx.saved_tensors
        return grad_states * grad, grad_output[0] * grad if grad_output else None, None, None, None, None


class TeacherLoss(torch.autograd.Function):
    """Sum over rows of KL(softmax(teacher[r] @ output.T) || softmax(states[r] @ output.T)); a gradient for states alone."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, teacher: Tensor, output: Tensor) -> Tensor:
        """states and teacher [rows, hidden_size], output [vocab, hidden_size]."""
        low = _low(states)
        weight, rows_low, teacher_low = output.to(low), states.to(low), teacher.to(low)
        loss = states.new_zeros((), dtype=torch.float32)
        grad_states = torch.empty_like(states)
        for start in range(0, len(states), CHUNK):
            rows = slice(start, start + CHUNK)
            said = (rows_low[rows] @ weight.T).float().log_softmax(dim=-1)
            wanted = (teacher_low[rows] @ weight.T).float().log_softmax(dim=-1)
            loss += (wanted.exp() * (wanted - said)).sum()
            grad_states[rows] = ((said.exp() - wanted.exp()).to(low) @ weight).to(states.dtype)
        ctx.save_for_backward(grad_states)
        return loss

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        (grad_states,) = ctx.saved_tensors
        return grad_states * grad, None, None


def sparse_loss(
    states: Tensor,
    output: Tensor,
    columns: Tensor,
    mass: Tensor,
    odds: Tensor | None = None,
    overlap: Tensor | None = None,
) -> Tensor:
    """Scalar; see `SparseLoss`. Without `odds` and `overlap` cross-entropy alone."""
    odds = torch.zeros_like(mass) if odds is None else odds
    overlap = mass.new_zeros(len(mass)) if overlap is None else overlap
    loss: Tensor = SparseLoss.apply(states, output, columns, mass, odds, overlap)  # type: ignore[no-untyped-call]
    return loss


def teacher_loss(states: Tensor, teacher: Tensor, output: Tensor) -> Tensor:
    """Scalar; see `TeacherLoss`."""
    loss: Tensor = TeacherLoss.apply(states, teacher, output)  # type: ignore[no-untyped-call]
    return loss


def _low(states: Tensor) -> torch.dtype:
    """What is multiplied in."""
    kind = states.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else states.dtype
