"""A backbone of one layer, for what only needs its hidden states and its output layer."""

from __future__ import annotations

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from medusa_chat.engine.backbone import Backbone


def small_backbone(hidden_size: int = 32, vocab_size: int = 120, seed: int = 3) -> Backbone:
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=vocab_size,
        hidden_size=hidden_size,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=4,
        num_key_value_heads=2,
        eos_token_id=1,
        initializer_range=0.3,
    )
    return Backbone(LlamaForCausalLM(config))
