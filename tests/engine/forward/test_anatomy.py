"""Which models have the anatomy, and what is said of those that have not."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers
from doubles.llama_likes import llama_like
from doubles.tiny_families import SIZES, WINDOW, tiny_model
from torch import nn

from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.forward.anatomy import joined_bias, joined_weight
from medusa_chat.engine.forward.dissect import UnsupportedError, dissect


def model_of(kind: str, **changes: Any) -> transformers.PreTrainedModel:
    config = getattr(transformers, f"{kind}Config")(**{**SIZES, **changes})
    model: transformers.PreTrainedModel = getattr(transformers, f"{kind}ForCausalLM")(config)
    return model.eval()


def refusal(model: transformers.PreTrainedModel) -> str:
    with pytest.raises(UnsupportedError) as caught:
        dissect(model)
    return str(caught.value)


def test_the_parts_are_the_models_own() -> None:
    model = llama_like("tied")
    anatomy = dissect(model)
    assert anatomy.embedding.data_ptr() == model.model.embed_tokens.weight.data_ptr()
    assert anatomy.output is model.lm_head
    assert anatomy.layers[1].down is model.model.layers[1].mlp.down_proj
    assert [len(layer.qkv) for layer in anatomy.layers] == [3, 3]
    assert [len(layer.qkv) for layer in dissect(llama_like("phi3")).layers] == [1, 1]


def test_windows_positions_and_norms_are_read_by_layer() -> None:
    assert [layer.window for layer in dissect(llama_like("some layers slide")).layers] == [WINDOW, None]
    assert [layer.window for layer in dissect(llama_like("mistral")).layers] == [WINDOW, WINDOW]
    assert [layer.rotates for layer in dissect(llama_like("smollm3")).layers] == [True, False]
    assert dissect(llama_like("llama")).layers[0].query_norm is None
    assert dissect(llama_like("qwen3")).layers[0].query_norm is not None
    assert dissect(llama_like("part of a head rotates")).rotary_width == 4


@pytest.mark.parametrize("name", ["llama", "linear rope", "llama3 rope", "yarn", "part of a head rotates"])
def test_rotary_table_is_the_models(name: str) -> None:
    model = llama_like(name)
    cosines, sines = model.model.rotary_emb(torch.zeros(1), torch.arange(300)[None])
    ours = dissect(model).rotary_table(300)
    half = ours[0].shape[1]
    torch.testing.assert_close(ours[0], cosines[0, :, :half])
    torch.testing.assert_close(ours[1], sines[0, :, :half])


def test_weights_are_joined_in_order() -> None:
    attention = llama_like("biases").model.layers[0].self_attn
    linears = [attention.q_proj, attention.k_proj, attention.v_proj]
    rows = torch.randn(3, SIZES["hidden_size"])
    wanted = torch.cat([linear(rows) for linear in linears], dim=-1)
    torch.testing.assert_close(nn.functional.linear(rows, joined_weight(linears), joined_bias(linears)), wanted)
    linears[1].bias = None
    wanted = torch.cat([linear(rows) for linear in linears], dim=-1)
    torch.testing.assert_close(nn.functional.linear(rows, joined_weight(linears), joined_bias(linears)), wanted)
    assert joined_bias([llama_like("llama").lm_head]) is None


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("Olmo", "OlmoLayerNorm is no RMS norm"),
        ("Olmo2", "no input_layernorm"),
        ("StableLm", "LayerNorm is no RMS norm"),
        ("Gemma", "embedding is of a kind of its own"),
        ("Cohere", "logit_scale"),
        ("Arcee", "no gate_proj"),
        ("Qwen2Moe", "no down_proj"),
        ("Starcoder2", "no down_proj"),
        ("Phi", "no norm"),
    ],
)
def test_models_made_otherwise_are_refused_with_a_reason(kind: str, reason: str) -> None:
    with pytest.raises(UnsupportedError, match=reason):
        dissect(model_of(kind))


def test_norms_that_only_look_alike_are_refused() -> None:
    """Gemma's norms multiply with 1 + weight."""
    model, gemma = tiny_model("llama"), model_of("Gemma")
    model.model.norm = gemma.model.norm
    assert "no plain RMS norm" in refusal(model)


def test_numbers_a_config_changes_are_refused() -> None:
    assert dissect(model_of("Granite")).scaling == 1.0
    assert "logits_scaling" in refusal(model_of("Granite", logits_scaling=2.0))
    assert "residual_multiplier" in refusal(model_of("Granite", residual_multiplier=0.5))


def test_positions_that_depend_on_the_length_are_refused() -> None:
    rope = {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 2.0}
    assert "rotary positions are of the kind dynamic" in refusal(tiny_model("llama", rope_parameters=rope))
    strange = {"rope_type": "default", "rope_theta": 10000.0, "llama_4_scaling_beta": 0.1}
    assert "llama_4_scaling_beta" in refusal(tiny_model("llama", rope_parameters=strange))


def test_weights_beside_the_known_parts_are_refused() -> None:
    model = tiny_model("llama")
    model.model.layers[1].self_attn.sinks = nn.Parameter(torch.zeros(4))
    assert "LlamaAttention has sinks" in refusal(model)
    model = tiny_model("llama")
    model.model.layers[0].extra = nn.Linear(2, 2)
    assert "LlamaDecoderLayer has extra" in refusal(model)
    model = tiny_model("llama")
    model.model.layers[0].extra = nn.Dropout()
    dissect(model)


def test_another_activation_and_other_linear_layers_are_refused() -> None:
    assert "activation is relu" in refusal(tiny_model("llama", hidden_act="relu"))
    model = tiny_model("llama")
    model.model.layers[0].mlp.up_proj = nn.Bilinear(2, 2, 2)
    assert "Bilinear" in refusal(model)


def test_norms_across_heads_are_refused() -> None:
    model = tiny_model("qwen3")
    for layer in model.model.layers:
        layer.self_attn.q_norm.weight = nn.Parameter(torch.ones(48))
    assert "across heads" in refusal(model)


def test_layers_that_cannot_check_a_tree_are_refused_on_every_path() -> None:
    model = tiny_model("llama")
    model.config.layer_types = ["full_attention", "chunked_attention"]
    with pytest.raises(MedusaError, match="chunked_attention"):
        dissect(model)
