"""Real transformers decoders of several families with random weights, fast enough to run thousands of times."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor
from transformers import (
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    Phi3Config,
    Phi3ForCausalLM,
    PretrainedConfig,
    PreTrainedModel,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from medusa_chat.engine.backbone import Backbone

VOCAB = 96
WINDOW = 8
"""Sliding window of the families that have one."""

SIZES: dict[str, Any] = {
    "vocab_size": VOCAB,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 1024,
    # Wide enough for texts that do not fall into repeating one token.
    "initializer_range": 0.2,
    "tie_word_embeddings": False,
    "eos_token_id": None,
    "bos_token_id": None,
    "pad_token_id": None,
}

_FAMILIES: dict[str, tuple[type[PretrainedConfig], Callable[[Any], PreTrainedModel], dict[str, Any]]] = {
    "llama": (LlamaConfig, LlamaForCausalLM, {}),
    "mistral": (MistralConfig, MistralForCausalLM, {"sliding_window": WINDOW}),
    "qwen2": (Qwen2Config, Qwen2ForCausalLM, {}),
    "qwen3": (Qwen3Config, Qwen3ForCausalLM, {"head_dim": 12}),
    "gemma3": (
        Gemma3TextConfig,
        Gemma3ForCausalLM,
        {
            "head_dim": 12,
            "sliding_window": WINDOW,
            "layer_types": ["sliding_attention", "full_attention"],
            "query_pre_attn_scalar": 12,
        },
    ),
    "phi3": (Phi3Config, Phi3ForCausalLM, {"num_key_value_heads": 4}),
}

FAMILIES = tuple(_FAMILIES)


def tiny_model(family: str = "llama", **changes: Any) -> PreTrainedModel:
    """The same weights for the same arguments; `changes` are config fields."""
    config_class, model_class, particular = _FAMILIES[family]
    with torch.random.fork_rng():
        torch.manual_seed(11)
        return model_class(config_class(**{**SIZES, **particular, **changes})).eval()


class Reference:
    """An untouched copy of a model, run without a cache, with transformers' own masks and "eager" attention."""

    def __init__(self, model: PreTrainedModel) -> None:
        self.model = copy.deepcopy(model)
        self.model.set_attn_implementation("eager")

    @torch.inference_mode()
    def logits(self, ids: Sequence[int]) -> Tensor:
        """[len(ids), vocab]: row i says what follows ids[: i + 1]."""
        logits: Tensor = self.model(torch.tensor([list(ids)]), use_cache=False).logits[0]
        return logits

    @torch.inference_mode()
    def hidden(self, ids: Sequence[int]) -> Tensor:
        """[hidden_size], last normed hidden state of the last token."""
        output = self.model(torch.tensor([list(ids)]), use_cache=False, output_hidden_states=True)
        last: Tensor = output.hidden_states[-1][0, -1]
        return last

    def greedy(self, prompt: Sequence[int], count: int) -> list[int]:
        """`count` tokens, one whole forward pass each."""
        ids = list(prompt)
        for _ in range(count):
            ids.append(int(self.logits(ids)[-1].argmax()))
        return ids[len(prompt) :]


@cache
def family_pair(family: str) -> tuple[Backbone, Reference]:
    """A backbone, shared by tests (each begins by rewinding it to 0), and its reference."""
    model = tiny_model(family)
    reference = Reference(model)
    return Backbone(model), reference
