"""What joint training did to the backbone's words: both read the same held-out answers, token by token."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

_ROWS = 256


@dataclass(frozen=True, slots=True)
class Drift:
    """Of the adapted backbone against itself without adapters, over answer tokens."""

    tokens: int
    kl: float
    """Mean KL(original || adapted), nats a token."""
    perplexity: float
    original_perplexity: float
    agreement: float
    """Share of tokens where both find the same one the likeliest."""


@torch.no_grad()
def drift(answers: Iterable[tuple[Tensor, Tensor, Tensor]], output: Tensor) -> Drift:
    """
    Args:
        answers: in pieces, hidden states [tokens, hidden_size] of the adapted backbone, those without adapters, and
            the tokens that came, [tokens] int64.
        output: [vocab_size, hidden_size], the output layer both share.
    """
    sums = torch.zeros(4, dtype=torch.float64)
    tokens = 0
    for said, own, came in answers:
        tokens += len(came)
        parts = (torch.split(part, _ROWS) for part in (said, own, came))
        for new, old, tokens_came in zip(*parts, strict=True):
            sums += _compare(new, old, tokens_came, output)
    kl, likelihood, original, same = (sums / max(1, tokens)).tolist()
    return Drift(tokens, kl, math.exp(-likelihood), math.exp(-original), same)


def _compare(said: Tensor, own: Tensor, came: Tensor, output: Tensor) -> Tensor:
    """Sums of KL, both log-likelihoods, and agreements."""
    new, old = ((rows @ output.T).log_softmax(dim=-1) for rows in (said, own))
    return (
        torch.stack(
            [
                (old.exp() * (old - new)).sum(),
                new.gather(1, came[:, None]).sum(),
                old.gather(1, came[:, None]).sum(),
                (new.argmax(dim=-1) == old.argmax(dim=-1)).sum(),
            ]
        )
        .cpu()
        .double()
    )
