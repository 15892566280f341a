"""Decoders of the anatomy the lean path knows, each with another of its variations, and one way to compare two paths."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch
from doubles.tiny_families import SIZES, VOCAB, WINDOW, tiny_model
from torch import nn
from transformers import PreTrainedModel, SmolLM3Config, SmolLM3ForCausalLM

from medusa_chat.engine.forward.base import Forward, chain
from medusa_chat.engine.tree import CandidateTree

_ROPE: dict[str, Any] = {"rope_theta": 10000.0, "original_max_position_embeddings": 16, "factor": 4.0}
_MIXED = ["sliding_attention", "full_attention"]


def _of(family: str, **particular: Any) -> Callable[..., PreTrainedModel]:
    return lambda **changes: tiny_model(family, **{**particular, **changes})


def _llama(**particular: Any) -> Callable[..., PreTrainedModel]:
    return _of("llama", **particular)


def _smollm3(**changes: Any) -> PreTrainedModel:
    """Every other layer without positions."""
    with torch.random.fork_rng():
        torch.manual_seed(12)
        return SmolLM3ForCausalLM(SmolLM3Config(**{**SIZES, **changes}, no_rope_layers=[1, 0])).eval()


def _uneven_norms(model: PreTrainedModel) -> PreTrainedModel:
    """Norm weights are 1 in a fresh model, which would hide that they are left out or swapped."""
    with torch.random.fork_rng():
        torch.manual_seed(13)
        for name, parameter in model.named_parameters():
            if "norm" in name or name.endswith("bias"):
                nn.init.uniform_(parameter, 0.5, 1.5)
    return model


_MAKERS: dict[str, Callable[..., PreTrainedModel]] = {
    "llama": _llama(),
    "tied": _llama(tie_word_embeddings=True),
    "biases": _llama(attention_bias=True, mlp_bias=True),
    "gelu": _llama(hidden_act="gelu_pytorch_tanh"),
    "one key head": _llama(num_key_value_heads=1),
    "no groups": _llama(num_key_value_heads=4),
    "wide heads": _llama(head_dim=20),
    "linear rope": _llama(rope_parameters={"rope_type": "linear", "rope_theta": 10000.0, "factor": 2.0}),
    "llama3 rope": _llama(
        rope_parameters={"rope_type": "llama3", "low_freq_factor": 1.0, "high_freq_factor": 4.0, **_ROPE}
    ),
    "yarn": _llama(rope_parameters={"rope_type": "yarn", **_ROPE}),
    "mistral": _of("mistral"),
    "qwen2": _of("qwen2"),
    "some layers slide": _of("qwen2", use_sliding_window=True, sliding_window=WINDOW, layer_types=_MIXED),
    "qwen3": _of("qwen3"),
    "phi3": _of("phi3"),
    "part of a head rotates": _of(
        "phi3",
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5},
    ),
    "smollm3": _smollm3,
}
LLAMA_LIKES = tuple(_MAKERS)


WIDE: dict[str, Any] = {"hidden_size": 64, "intermediate_size": 96, "head_dim": 16}
"""Sizes that fill the native path's tiles: multiples of 32, heads of 16."""


def llama_like(name: str, **changes: Any) -> PreTrainedModel:
    """The same weights for the same name and the same changes of its config."""
    return _uneven_norms(_MAKERS[name](**changes))


def worst_difference(forward: Forward, other: Forward, seed: int = 0) -> float:
    """Both live through the same prompts, trees, commits and rewinds; the largest relative difference of any result."""
    draw, worst = random.Random(seed), 0.0
    with torch.inference_mode():
        for count, last_only in ((5, True), (2 * WINDOW, False), (1, False), (12, False), (30, False), (270, True)):
            worst = max(worst, _both_run(forward, other, chain(_tokens(draw, count)), last_only))
            keep = range(count - count // 4)
            forward.commit(keep)
            other.commit(keep)
            for nodes in (1, 2, 9, 24):
                tree = _tree(draw, nodes)
                worst = max(worst, _both_run(forward, other, tree, last_only=False))
                path = [node for node in range(nodes) if tree.ancestry()[draw.randrange(nodes), node]]
                forward.commit(path)
                other.commit(path)
            length = forward.length - draw.randrange(6)
            forward.rewind(length)
            other.rewind(length)
            assert forward.length == other.length == length
    return worst


def _both_run(forward: Forward, other: Forward, tree: CandidateTree, last_only: bool) -> float:
    worst = 0.0
    for ours, theirs in zip(forward.run(tree, last_only=last_only), other.run(tree, last_only=last_only), strict=True):
        assert ours.shape == theirs.shape
        assert ours.dtype == theirs.dtype
        worst = max(worst, float((ours - theirs).abs().max() / theirs.abs().max()))
    return worst


def _tokens(draw: random.Random, count: int) -> list[int]:
    return [draw.randrange(VOCAB) for _ in range(count)]


def _tree(draw: random.Random, nodes: int) -> CandidateTree:
    parents = [-1, *(draw.randrange(node) for node in range(1, nodes))]
    return CandidateTree.build(_tokens(draw, nodes), parents, [1.0] * nodes)
