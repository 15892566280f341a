"""Guesses in C are the heads' guesses."""

from __future__ import annotations

import pytest
import torch
from doubles.native_library import compiled
from torch import Tensor
from torch.nn.functional import rms_norm, silu

from medusa_chat.kernels.native.heads import MOST_GUESSES, NativeHeads
from medusa_chat.kernels.native.structures import INT4
from medusa_chat.kernels.native.weights import unpack

HIDDEN, COLUMNS, HEADS = 64, 700, 3


def numbers(*shape: int, scale: float = 1.0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape))) * scale


def softmaxes(
    weights: Tensor, biases: Tensor, output: Tensor, root: Tensor | None, hidden: Tensor, seen: Tensor
) -> Tensor:
    state = hidden if root is None else hidden + rms_norm(seen, (HIDDEN,), eps=1e-6) @ root.T
    states = state.expand(HEADS, HIDDEN)
    for weight, bias in zip(weights, biases, strict=True):
        states = states + silu(torch.einsum("hoi,hi->ho", weight, states) + bias)
    return (states @ output.T).softmax(dim=-1)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("sees_root", [False, True])
@pytest.mark.parametrize("asked", [1, 2, 3])
def test_guesses_are_the_best_of_each_head(layers: int, sees_root: bool, asked: int) -> None:
    weights, biases = numbers(layers, HEADS, HIDDEN, HIDDEN, scale=0.1), numbers(layers, HEADS, HIDDEN, scale=0.2)
    output, root = numbers(COLUMNS, HIDDEN, scale=0.12), numbers(HIDDEN, HIDDEN, scale=0.1) if sees_root else None
    hidden, seen = numbers(HIDDEN), numbers(HIDDEN, scale=3.0)
    kept = [unpack(weight, INT4) for weight in weights.reshape(-1, HIDDEN, HIDDEN)]
    exact = softmaxes(
        torch.stack(kept).reshape(weights.shape),
        biases,
        unpack(output, INT4),
        None if root is None else unpack(root, INT4),
        hidden,
        seen,
    )
    columns, odds = NativeHeads(compiled(), weights, biases, output, root)(hidden, seen, asked, 8)
    assert columns.shape == odds.shape == (asked, 8)
    # But for rounded states: probabilities of the tokens named are right, and nothing clearly better was left out.
    assert torch.allclose(odds, exact[:asked].gather(1, columns.long()), rtol=0.1, atol=1e-3)
    assert torch.allclose(odds[:, 0], exact[:asked].amax(dim=-1), rtol=0.1)
    assert (odds.diff(dim=-1) <= 0).all()
    assert all(len(set(row)) == 8 for row in columns.tolist())


@pytest.mark.parametrize("top_k", [1, 2, MOST_GUESSES])
def test_the_best_are_found_wherever_they_lie(top_k: int) -> None:
    weights, biases = torch.zeros(1, 1, HIDDEN, HIDDEN), torch.zeros(1, 1, HIDDEN)
    hidden = torch.zeros(HIDDEN)
    hidden[0] = 1.0
    for seed in range(20):
        output = torch.zeros(COLUMNS, HIDDEN)
        output[:, 0] = torch.randperm(COLUMNS, generator=torch.Generator().manual_seed(seed)) / 4.0
        # As blocks of one number among zeros they are all kept exactly.
        columns, _ = NativeHeads(compiled(), weights, biases, output, None)(hidden, hidden, 1, top_k)
        assert columns[0].tolist() == output[:, 0].topk(top_k).indices.tolist()


def test_equal_scores_come_in_the_order_of_columns() -> None:
    output = torch.ones(COLUMNS, HIDDEN)
    heads = NativeHeads(compiled(), torch.zeros(1, 1, HIDDEN, HIDDEN), torch.zeros(1, 1, HIDDEN), output, None)
    columns, odds = heads(torch.ones(HIDDEN), torch.ones(HIDDEN), 1, 5)
    assert columns[0].tolist() == [0, 1, 2, 3, 4]
    assert torch.allclose(odds, torch.full((1, 5), 1 / COLUMNS), rtol=1e-4)
