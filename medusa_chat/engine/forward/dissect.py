"""Reads a model's `Anatomy`, or says why it has none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.nn.functional import rms_norm
from transformers import PreTrainedModel

from medusa_chat.engine.forward.anatomy import Activation, Anatomy, LayerAnatomy
from medusa_chat.engine.masks import layer_windows

ACTIVATIONS: dict[str, Activation] = {
    "silu": "silu",
    "swish": "silu",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_new": "gelu_tanh",
}
ROTARY_KINDS = {"default", "linear", "llama3", "yarn"}
"""Kinds of rotary positions whose frequencies do not depend on how long the sequence is."""
ROTARY_KEYS = {
    *("rope_theta", "rope_type", "type", "partial_rotary_factor", "factor", "original_max_position_embeddings"),
    *("low_freq_factor", "high_freq_factor"),
    *("attention_factor", "beta_fast", "beta_slow", "mscale", "mscale_all_dim", "truncate"),
}
"""All of them only shape the frequencies and their scale; another key may change queries by position."""
CHANGES_NUMBERS = (
    *("logit_scale", "logits_scaling", "embedding_multiplier", "residual_multiplier"),
    *("final_logit_softcapping", "attn_logit_softcapping", "clip_qkv"),
)
"""Config fields by which a model differs from the plain sum of its parts."""
NEAR = {torch.float32: 1e-5, torch.float16: 5e-3, torch.bfloat16: 4e-2}
"""How far a norm may be off `rms_norm`, relative to its largest entry."""

_Value = TypeVar("_Value")


class UnsupportedError(Exception):
    """Not this anatomy; the text says what is different, after "because"."""


def dissect(model: PreTrainedModel) -> Anatomy:
    """The parts of `model`, its own tensors.

    Raises:
        UnsupportedError: the model is made in another way, as far as its parts tell. Other ways to combine the same parts
            do not show here; comparing results shows them (`proof`).
        MedusaError: it has layers that cannot check a tree.
    """
    config: Any = model.config.get_text_config()
    for name in CHANGES_NUMBERS:
        if getattr(config, name, None) not in (None, 1.0):
            raise UnsupportedError(f"its config has {name}")
    windows = layer_windows(config)
    _require_parts(model, {model.base_model_prefix, "lm_head"})
    decoder: Any = model.base_model
    _require_parts(decoder, {"embed_tokens", "layers", "norm", "rotary_emb"})
    if type(decoder.embed_tokens) is not nn.Embedding:
        raise UnsupportedError("its embedding is of a kind of its own")
    layers = [_layer(layer, window) for layer, window in zip(decoder.layers, windows, strict=True)]
    frequencies, rotary_scale = _rotary(decoder.rotary_emb, config)
    attentions = [layer.self_attn for layer in decoder.layers]
    norms = [norm for layer in decoder.layers for norm in (layer.input_layernorm, layer.post_attention_layernorm)]
    norms += [norm for attention in attentions for norm in _head_norms(attention)]
    anatomy = Anatomy(
        layers=tuple(layers),
        embedding=decoder.embed_tokens.weight.detach(),
        final_norm=_norm(decoder.norm),
        output=_linear(model.lm_head),
        eps=_only([_eps(norm) for norm in [*norms, decoder.norm]], "its norms have more than one epsilon"),
        activation=_activation(config),
        heads=int(config.num_attention_heads),
        kv_heads=int(getattr(config, "num_key_value_heads", None) or config.num_attention_heads),
        head_dim=_only([int(attention.head_dim) for attention in attentions], "its layers have heads of several sizes"),
        scaling=_only([float(attention.scaling) for attention in attentions], "its layers scale attention differently"),
        frequencies=frequencies,
        rotary_scale=rotary_scale,
        context=int(config.max_position_embeddings),
    )
    _require_sizes(anatomy)
    return anatomy


def _layer(layer: Any, window: int | None) -> LayerAnatomy:
    _require_parts(layer, {"self_attn", "mlp", "input_layernorm", "post_attention_layernorm"})
    attention, mlp = layer.self_attn, layer.mlp
    qkv = ["qkv_proj"] if hasattr(attention, "qkv_proj") else ["q_proj", "k_proj", "v_proj"]
    gate_up = ["gate_up_proj"] if hasattr(mlp, "gate_up_proj") else ["gate_proj", "up_proj"]
    head_norms = ["q_norm", "k_norm"] if hasattr(attention, "q_norm") else []
    _require_parts(attention, {*qkv, "o_proj", *head_norms})
    _require_parts(mlp, {*gate_up, "down_proj"}, {"act_fn", "activation_fn"})
    query_norm, key_norm = [_norm(norm) for norm in _head_norms(attention)] or (None, None)
    return LayerAnatomy(
        input_norm=_norm(layer.input_layernorm),
        qkv=tuple(_linear(getattr(attention, name)) for name in qkv),
        query_norm=query_norm,
        key_norm=key_norm,
        attention_output=_linear(attention.o_proj),
        post_norm=_norm(layer.post_attention_layernorm),
        gate_up=tuple(_linear(getattr(mlp, name)) for name in gate_up),
        down=_linear(mlp.down_proj),
        rotates=bool(getattr(attention, "use_rope", True)),
        window=window,
    )


def _head_norms(attention: Any) -> list[nn.Module]:
    return [attention.q_norm, attention.k_norm] if hasattr(attention, "q_norm") else []


def _require_parts(module: nn.Module, needed: set[str], harmless: set[str] = frozenset()) -> None:  # type: ignore[assignment]
    """Exactly these children and no weights of its own; dropout does nothing after training."""
    found = {name for name, part in module.named_children() if not isinstance(part, (nn.Dropout, nn.Identity))}
    own = {name for name, _ in module.named_parameters(recurse=False)}
    kind = type(module).__name__
    if not needed <= found:
        raise UnsupportedError(f"its {kind} has no {', '.join(sorted(needed - found))}")
    if strange := (found - needed - harmless) | own:
        raise UnsupportedError(f"its {kind} has {', '.join(sorted(strange))}")


def _linear(module: nn.Module) -> nn.Linear:
    if not isinstance(module, nn.Linear):
        raise UnsupportedError(f"it has linear layers of a kind of its own, {type(module).__name__}")
    return module


def _norm(norm: Any) -> Tensor:
    """Its weight."""
    weight: Tensor | None = getattr(norm, "weight", None)
    if weight is None or getattr(norm, "bias", None) is not None:
        raise UnsupportedError(f"its {type(norm).__name__} is no RMS norm")
    return weight.detach()


def _eps(norm: Any) -> float:
    """The epsilon of an RMS norm, found out by trying: other norms with the same weight give other numbers."""
    weight = _norm(norm)
    eps = float(getattr(norm, "variance_epsilon", getattr(norm, "eps", None)) or 0.0)
    # Small entries, or the epsilon would not matter; off centre, or a layer norm might pass.
    rows = 1e-3 * torch.linspace(-1.0, 2.0, 2 * weight.shape[0], device=weight.device).to(weight.dtype).view(2, -1)
    with torch.inference_mode():
        given, wanted = norm(rows), rms_norm(rows, weight.shape, weight, eps)
    if (given - wanted).abs().max() > NEAR[weight.dtype] * wanted.abs().max():
        raise UnsupportedError(f"its {type(norm).__name__} is no plain RMS norm")
    return eps


def _rotary(rotary: Any, config: Any) -> tuple[Tensor, float]:
    """Frequencies and scale of rotary positions that do not change with the length of the text."""
    parameters = getattr(config, "rope_parameters", None) or {}
    kind = getattr(rotary, "rope_type", None)
    if kind not in ROTARY_KINDS:
        raise UnsupportedError(f"its rotary positions are of the kind {kind}")
    if strange := sorted(set(parameters) - ROTARY_KEYS):
        raise UnsupportedError(f"its rotary positions have {', '.join(strange)}")
    return rotary.inv_freq.detach().float(), float(rotary.attention_scaling)


def _activation(config: Any) -> Activation:
    name = getattr(config, "hidden_act", None)
    if name not in ACTIVATIONS:
        raise UnsupportedError(f"its activation is {name}")
    return ACTIVATIONS[name]


def _only(values: Iterable[_Value], otherwise: str) -> _Value:
    found = set(values)
    if len(found) != 1:
        raise UnsupportedError(otherwise)
    return found.pop()


def _require_sizes(anatomy: Anatomy) -> None:
    """Sizes that tell another meaning of the same names, such as a norm over all heads at once."""
    queries, keys = anatomy.heads * anatomy.head_dim, anatomy.kv_heads * anatomy.head_dim
    for layer in anatomy.layers:
        if sum(linear.out_features for linear in layer.qkv) != queries + 2 * keys:
            raise UnsupportedError("its queries, keys and values have sizes of their own")
        if layer.query_norm is not None and layer.query_norm.shape != (anatomy.head_dim,):
            raise UnsupportedError("it norms queries across heads")
