"""Random Llama models with a real tokenizer, small enough to save and load in a test."""

from __future__ import annotations

from pathlib import Path

import torch
from doubles.small_tokenizers import byte_level
from transformers import LlamaConfig, LlamaForCausalLM

from medusa_chat.engine.backbone import Backbone
from medusa_chat.heads.medusa import MedusaHeads
from medusa_chat.heads.store import save_heads


def save_tiny_model(folder: Path, *, heads: int = 0, context: int = 4096) -> Path:
    """A folder with config, weights and tokenizer, and with fresh heads where asked for; no end token.

    Without an end token an answer has exactly the length that is asked for.
    """
    tokenizer = byte_level()
    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=context,
        bos_token_id=None,
        eos_token_id=None,
        tie_word_embeddings=True,
        initializer_range=0.2,
    )
    model = LlamaForCausalLM(config)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    if heads:
        backbone = Backbone(model)
        fresh = MedusaHeads.fresh(backbone.output_layer.weight, heads)
        save_heads(fresh, folder / "heads", backbone, folder.name, recipe={})
    return folder
