"""Attention for few query rows over grouped keys: the group is folded into the query axis instead of copying keys."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

NAME = "medusa_tree"


def folded_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """Scaled dot-product attention, same numbers as transformers' "sdpa".

    Args:
        query: [batch, heads, n, head_dim].
        key, value: [batch, kv_heads, rows, head_dim].
        attention_mask: [batch, 1, n, rows] bool or additive, the same for all heads; None falls back to "sdpa".

    Returns:
        [batch, n, heads, head_dim] and no weights.
    """
    groups = query.shape[1] // key.shape[1]
    if attention_mask is None or attention_mask.shape[1] != 1:
        return sdpa_attention_forward(
            module, query, key, value, attention_mask, dropout=dropout, scaling=scaling, **kwargs
        )
    batch, heads, rows, width = query.shape
    folded = query.reshape(batch, key.shape[1], groups * rows, width)
    mask = attention_mask if groups == 1 else attention_mask.repeat(1, 1, groups, 1)
    mixed = torch.nn.functional.scaled_dot_product_attention(
        folded, key, value, attn_mask=mask, dropout_p=dropout, scale=scaling
    )
    return mixed.reshape(batch, heads, rows, -1).transpose(1, 2).contiguous(), None


def register() -> None:
    """Make the name known to transformers; registering twice is harmless."""
    AttentionInterface.register(NAME, folded_attention)
    AttentionMaskInterface.register(NAME, sdpa_mask)
