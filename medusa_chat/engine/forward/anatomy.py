"""The parts of a llama-like decoder, taken out of a loaded transformers model for a forward of our own.

Such a decoder is: embedding; per layer an RMS norm, attention over rotated queries and keys, a second RMS norm and a
gated MLP, both added to the stream; a last norm; an output layer. Llama, Mistral, Qwen2, Qwen3, Phi-3 and SmolLM3 are
made so. What a model is called says nothing here: it is read by its parts, and a part that is not known is a reason to
leave the model to transformers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

Activation = Literal["silu", "gelu_tanh"]


@dataclass(frozen=True, slots=True)
class LayerAnatomy:
    """One decoder layer. Projections that read the same rows stand together, apart or merged by the model."""

    input_norm: Tensor
    """[hidden_size], weight of the RMS norm before attention."""
    qkv: tuple[nn.Linear, ...]
    """(query, key, value), or one that holds their outputs in this order."""
    query_norm: Tensor | None
    """[head_dim], weight of an RMS norm over each query head before it is rotated."""
    key_norm: Tensor | None
    """[head_dim]; there if and only if `query_norm` is."""
    attention_output: nn.Linear
    post_norm: Tensor
    """[hidden_size], weight of the RMS norm before the MLP."""
    gate_up: tuple[nn.Linear, ...]
    """(gate, up), or one that holds their outputs in this order."""
    down: nn.Linear
    rotates: bool
    """False: this layer does not know positions."""
    window: int | None
    """Rows at a distance of this or more are not seen; None sees all."""


@dataclass(frozen=True, slots=True)
class Anatomy:
    """A whole decoder; tensors are the model's own, not copies."""

    layers: tuple[LayerAnatomy, ...]
    embedding: Tensor
    """[vocab_size, hidden_size]."""
    final_norm: Tensor
    """[hidden_size]."""
    output: nn.Linear
    """Hidden states to logits; its weight may be the embedding itself."""
    eps: float
    """Of every RMS norm."""
    activation: Activation
    heads: int
    kv_heads: int
    head_dim: int
    scaling: float
    """Attention scores are query times key times this."""
    frequencies: Tensor
    """[rotary_width / 2] float32: radians per position."""
    rotary_scale: float
    """Cosines and sines are multiplied by this."""
    context: int
    """Most rows the model was made for."""

    @property
    def hidden_size(self) -> int:
        return self.embedding.shape[1]

    @property
    def rotary_width(self) -> int:
        """How many leading entries of each head are rotated: entry i with entry i + rotary_width / 2."""
        return 2 * self.frequencies.shape[0]

    def rotary_table(self, positions: int) -> tuple[Tensor, Tensor]:
        """Cosines and sines for positions 0.., each [positions, rotary_width / 2] float32."""
        places = torch.arange(positions, dtype=torch.float32, device=self.frequencies.device)
        angles = places[:, None] * self.frequencies
        return angles.cos() * self.rotary_scale, angles.sin() * self.rotary_scale


def joined_weight(linears: Sequence[nn.Linear]) -> Tensor:
    """[sum of out_features, in_features]: their weights below each other; no copy where there is one."""
    return (
        linears[0].weight.detach() if len(linears) == 1 else torch.cat([linear.weight.detach() for linear in linears])
    )


def joined_bias(linears: Sequence[nn.Linear]) -> Tensor | None:
    """[sum of out_features], zeros for a layer without bias among others; None where none has one."""
    if all(linear.bias is None for linear in linears):
        return None
    biases = [
        linear.weight.new_zeros(linear.out_features) if linear.bias is None else linear.bias.detach()
        for linear in linears
    ]
    return torch.cat(biases)


def is_plain(linears: Sequence[nn.Linear]) -> bool:
    """Ordinary float weights, which may be merged, packed or rounded; subclasses (4-bit layers) are only called."""
    return all(type(linear) is nn.Linear for linear in linears)


def release(layer: LayerAnatomy) -> None:
    """Let go of a layer's plain weights once they were taken over in another form: the model itself cannot run then.

    Embedding and output layer are no layer's; heads and fingerprints read them.
    """
    for linear in (*layer.qkv, layer.attention_output, *layer.gate_up, layer.down):
        if is_plain([linear]):
            linear.register_parameter("weight", None)
            linear.register_parameter("bias", None)
