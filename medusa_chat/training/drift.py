"""What joint training did to the backbone's words: both read the same held-out answers, token by token."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from peft import PeftModel
from torch import Tensor

from medusa_chat.training.conversations import Conversation
from medusa_chat.training.passages import passages

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
def drift(model: PeftModel, output: Tensor, conversations: Sequence[Conversation]) -> Drift:
    """
    Args:
        output: [vocab_size, hidden_size], the output layer both share.
    """
    base = model.get_base_model().base_model
    sums = torch.zeros(4, dtype=torch.float64)
    tokens = 0
    for passage in passages(conversations):
        ids = passage.ids.to(output.device)
        said = base(input_ids=ids, use_cache=False).last_hidden_state.float()
        with model.disable_adapter():
            own = base(input_ids=ids, use_cache=False).last_hidden_state.float()
        rows = passage.left.to(ids.device) > 0
        came = torch.roll(ids, -1, dims=1)[rows]
        tokens += len(came)
        parts = (torch.split(part, _ROWS) for part in (said[rows], own[rows], came))
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
