"""Which path a model gets, in which precision, and what is said about it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import transformers
from doubles.llama_likes import WIDE, llama_like
from doubles.native_library import compiled
from doubles.tiny_families import SIZES, tiny_model

from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.forward import choosing, native
from medusa_chat.engine.forward.choosing import choose, proven
from medusa_chat.engine.forward.dissect import UnsupportedError, dissect
from medusa_chat.engine.forward.general import TransformersForward
from medusa_chat.engine.forward.lean import LeanForward
from medusa_chat.engine.forward.proof import LIMITS, difference
from medusa_chat.kernels.half import HalfLinear, half_works
from medusa_chat.kernels.native import build
from medusa_chat.kernels.native.build import library

needs_half = pytest.mark.skipif(not half_works(), reason="this build of torch has no layers with 16-bit weights")
INTERLEAVED = ["Helium", "Ernie4_5", "Glm"]
"""They rotate neighbours instead of halves, which their parts do not show."""


def interleaved(kind: str) -> transformers.PreTrainedModel:
    torch.manual_seed(4)
    config = getattr(transformers, f"{kind}Config")(**SIZES, head_dim=8)
    model: transformers.PreTrainedModel = getattr(transformers, f"{kind}ForCausalLM")(config)
    return model.eval()


@needs_half
def test_a_llama_takes_the_lean_path_in_16_bits_by_default() -> None:
    choice = choose(llama_like("llama"), "auto", None)
    assert (choice.forward.name, choice.precision, choice.notes) == ("lean", "fp16", ())


@pytest.mark.parametrize("quantize", ["none", "nf4"])
def test_what_is_asked_for_and_can_be_had_is_not_talked_about(quantize: str) -> None:
    choice = choose(llama_like("qwen3"), quantize, None)
    assert (choice.forward.name, choice.precision, choice.notes) == ("lean", quantize, ())


def test_without_16_bit_layers_precision_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing, "half_works", lambda: False)
    choice = choose(llama_like("llama"), "auto", None)
    assert (choice.forward.name, choice.precision, choice.notes) == ("lean", "none", ())
    choice = choose(llama_like("llama"), "fp16", None)
    assert choice.precision == "none"
    assert choice.notes == (
        "Weights of this model cannot be kept as fp16 on this processor; they are in full precision (none).",
    )


@pytest.mark.parametrize(
    ("quantize", "precision"), [("auto", "none"), ("int8", "int8"), ("int4", "int4"), ("none", "none")]
)
def test_the_native_path_is_taken_where_code_can_be_compiled(tmp_path: Path, quantize: str, precision: str) -> None:
    compiled()
    choice = choose(llama_like("llama", **WIDE), quantize, tmp_path)
    assert (choice.forward.name, choice.precision, choice.notes) == ("native", precision, ())


def test_without_a_compiler_torch_does_it_and_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library.cache_clear()
    monkeypatch.setattr(build, "COMPILERS", ("no-such-compiler",))
    choice = choose(llama_like("llama", **WIDE), "int8", tmp_path)
    assert choice.forward.name == "lean"
    assert choice.notes[0].startswith("No C compiler")
    assert choice.notes[1].startswith("Weights of this model cannot be kept as int8 on this processor; they are in ")


def test_code_that_computes_wrongly_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled()
    monkeypatch.setattr(choosing, "works", lambda code: False)
    choice = choose(llama_like("llama", **WIDE), "auto", tmp_path)
    assert choice.forward.name == "lean"
    assert choice.notes == ("The native CPU path is off: its compiled code failed its self-check.",)


def test_a_model_the_native_path_misreads_stays_lean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled()
    right = native.NativeWeights
    monkeypatch.setattr(native, "NativeWeights", lambda *args, **kwargs: right(*args, **{**kwargs, "eps": 1.0}))
    choice = choose(llama_like("llama", **WIDE), "none", tmp_path)
    assert choice.forward.name == "lean"


@pytest.mark.parametrize("kind", INTERLEAVED)
def test_a_model_that_is_misread_stays_with_transformers(kind: str) -> None:
    dissect(interleaved(kind))  # Its parts alone do not tell.
    with pytest.raises(UnsupportedError, match="misreads"):
        proven(interleaved(kind))
    choice = choose(interleaved(kind), "none", None)
    assert choice.forward.name == "transformers"
    (note,) = choice.notes
    assert note.startswith("This model runs on the general path, transformers' own forward, because the lean path")


@needs_half
def test_the_general_path_has_16_bit_weights_too() -> None:
    model = tiny_model("gemma3")
    choice = choose(model, "fp16", None)
    assert (choice.forward.name, choice.precision) == ("transformers", "fp16")
    assert sum(isinstance(module, HalfLinear) for module in model.modules()) == 2 * 7 + 1
    assert 0.0 < difference(choice.forward, TransformersForward(tiny_model("gemma3")), SIZES["vocab_size"]) < 1e-2


def test_models_that_cannot_check_a_tree_are_refused() -> None:
    model = tiny_model("llama")
    model.config.layer_types = ["full_attention", "chunked_attention"]
    with pytest.raises(MedusaError, match="chunked_attention"):
        choose(model, "auto", None)


def test_a_proof_sees_small_misreadings_and_leaves_both_paths_empty() -> None:
    general = TransformersForward(llama_like("qwen2"))
    right = LeanForward(dissect(llama_like("qwen2")))
    assert difference(right, general, SIZES["vocab_size"]) < 1e-5
    assert right.length == general.length == 0
    model = llama_like("qwen2")
    with torch.no_grad():
        model.model.layers[1].self_attn.k_proj.bias += 0.01  # type: ignore[union-attr]
    assert difference(LeanForward(dissect(model)), general, SIZES["vocab_size"]) > LIMITS[torch.float32]
