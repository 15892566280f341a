"""From a folder to a backbone: full precision, 4-bit, and one sentence for everything that is no model."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import bitsandbytes
import pytest
import torch
from doubles.engine_bench import Bench, tokens_of
from doubles.guessing_heads import KnowingHeads
from doubles.native_library import compiled
from doubles.small_tokenizers import byte_level
from doubles.tiny_families import Reference, tiny_model
from transformers import AutoModelForCausalLM

from medusa_chat.catalog import DEFAULT_MODEL, find
from medusa_chat.engine import loading
from medusa_chat.engine.acceptance import Greedy, Lossless
from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.drafters.guesses import Guesses
from medusa_chat.engine.drafters.medusa import Medusa
from medusa_chat.engine.drafters.plain import Plain
from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.forward import choosing
from medusa_chat.engine.loading import QUANTIZE, load_backbone
from medusa_chat.engine.shapes.cartesian import CartesianShape
from medusa_chat.engine.shapes.dynamic import DynamicShape
from medusa_chat.engine.tree import CandidateTree

VOCAB = 400
PROMPT = [40, 41, 42, 300, 7, 8]


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Llama in bfloat16 as a hub would hold it, sizes that fill 4-bit blocks, with a real tokenizer."""
    folder = tmp_path_factory.mktemp("llama")
    model = tiny_model("llama", vocab_size=VOCAB, hidden_size=64, intermediate_size=128)
    model.to(torch.bfloat16).save_pretrained(folder)
    byte_level().save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def nf4(saved: Path) -> Backbone:
    backbone, _ = load_backbone(saved, quantize="nf4")
    return backbone


@pytest.fixture
def broken(saved: Path, tmp_path: Path) -> Path:
    """A copy to break."""
    return Path(shutil.copytree(saved, tmp_path / "model"))


class OwnHeads:
    """Heads in the hidden state's dtype and on its device; guess by a fixed random projection."""

    count = 3

    def guess(self, hidden: torch.Tensor, root: int, heads: int, top_k: int) -> Guesses:
        generator = torch.Generator().manual_seed(1)
        weights = torch.randn(heads, VOCAB, hidden.shape[0], generator=generator).to(hidden)
        chances = (weights @ hidden).float().softmax(-1).topk(top_k)
        return Guesses(chances.indices.cpu(), chances.values.cpu())


def test_full_precision_is_float32_and_writes_what_transformers_writes(saved: Path) -> None:
    backbone, tokenizer = load_backbone(saved)
    assert backbone.dtype == torch.float32
    reference = Reference(AutoModelForCausalLM.from_pretrained(saved, dtype=torch.float32))
    bench = Bench(backbone, reference)
    assert tokens_of(bench.answer(PROMPT, max_tokens=20)) == bench.plain(PROMPT, 20)
    steps = bench.answer(PROMPT, Medusa(OwnHeads(), DynamicShape(), 3, 5), max_tokens=20)
    assert tokens_of(steps) == bench.plain(PROMPT, 20)
    assert tokenizer.decode(tokenizer.encode("fox", add_special_tokens=False)) == "fox"


def test_weights_are_taken_over_unless_told_otherwise(saved: Path) -> None:
    def layers(backbone: Backbone) -> int:
        return sum(type(module) is torch.nn.Linear and module.weight is not None for module in backbone.model.modules())

    fast, left_alone = load_backbone(saved)[0], load_backbone(saved, packed=False)[0]
    assert (fast.forward_name, layers(fast)) == ("lean", 1), "all but the output layer's weight moved"
    assert (left_alone.forward_name, layers(left_alone)) == ("transformers", 2 * 7 + 1)


@pytest.mark.parametrize("quantize", QUANTIZE)
def test_every_precision_loads_and_says_what_became_of_it(saved: Path, quantize: str) -> None:
    backbone, _ = load_backbone(saved, quantize=quantize)
    assert backbone.forward_name == "lean"
    assert backbone.precision in set(QUANTIZE) - {"auto"}
    assert bool(backbone.notes) == (quantize not in ("auto", backbone.precision))
    assert backbone.dtype == torch.float32
    reference = Reference(AutoModelForCausalLM.from_pretrained(saved, dtype=torch.float32))
    backbone.prefill(PROMPT)
    logits = backbone.verify(CandidateTree.root_only(9)).logits[0]
    wanted = reference.logits([*PROMPT, 9])[-1]
    limit = {"none": 1e-5, "fp16": 1e-2}.get(backbone.precision, 1.0)
    assert (logits - wanted).abs().max() < limit * wanted.abs().max()


def test_a_fingerprint_is_the_same_in_every_precision(saved: Path, nf4: Backbone) -> None:
    loads = [load_backbone(saved, quantize=precision)[0] for precision in ("none", "fp16", "int8", "int4")]
    loads.append(load_backbone(saved, packed=False)[0])
    assert {backbone.fingerprint() for backbone in loads} == {nf4.fingerprint()}


def test_nf4_layers_name_their_compute_dtype(nf4: Backbone) -> None:
    layers = [module for module in nf4.model.modules() if isinstance(module, bitsandbytes.nn.Linear4bit)]
    assert len(layers) == 2 * 7, "every layer but the output layer"
    for layer in layers:
        assert layer.compute_dtype == torch.float32
        assert layer.weight.quant_type == "nf4"
        assert layer.weight.dtype == torch.uint8
    config = nf4.model.config.quantization_config
    assert config.bnb_4bit_compute_dtype == torch.float32
    assert type(nf4.output_layer) is torch.nn.Linear
    assert nf4.dtype == torch.float32


def test_a_package_that_is_missing_is_one_sentence(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transformers.quantizers.quantizer_bnb_4bit.is_bitsandbytes_available", lambda: False)
    with pytest.raises(MedusaError, match=r"cannot be loaded as a language model: .* requires bitsandbytes"):
        load_backbone(saved, quantize="nf4")


def test_nf4_computes_in_the_type_of_the_device(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Left to its default of float32, a 16-bit model would lose the fast kernels without a word."""
    monkeypatch.setattr(loading, "compute_dtype", lambda folder, device: torch.bfloat16)
    backbone, _ = load_backbone(saved, quantize="nf4")
    layers = [module for module in backbone.model.modules() if isinstance(module, bitsandbytes.nn.Linear4bit)]
    assert {layer.compute_dtype for layer in layers} == {torch.bfloat16}
    assert backbone.dtype == torch.bfloat16
    bench = Bench(backbone, Reference.__new__(Reference))
    steps = bench.answer(PROMPT, Medusa(OwnHeads(), DynamicShape(), 3, 5), budget=8, max_tokens=8)
    assert len(tokens_of(steps)) == 8
    assert backbone.last_hidden is not None
    assert backbone.last_hidden.dtype == torch.bfloat16


def test_nf4_tree_logits_are_its_own_sequential_logits(nf4: Backbone, saved: Path) -> None:
    """One row and many rows may go through different 4-bit kernels, hence not to the last digit."""
    nf4.rewind(0)
    nf4.prefill(PROMPT)
    tree = CandidateTree.build([1, 2, 3, 4, 5, 6, 0], [-1, 0, 0, 1, 3, 2, 5], [1.0] * 7)
    logits = nf4.verify(tree).logits
    assert logits.dtype == torch.float32
    for node in range(len(tree)):
        nf4.rewind(len(PROMPT))
        for token in tree.tokens[tree.ancestry()[node]].tolist():
            alone = nf4.verify(CandidateTree.root_only(token)).logits[0]
            nf4.commit([0])
        torch.testing.assert_close(logits[node], alone, atol=1e-4, rtol=0.0)
    # 4-bit it really is: full precision says something else.
    full, _ = load_backbone(saved)
    full.prefill(PROMPT)
    assert (full.verify(tree).logits - logits).abs().max() > 1e-2


def test_nf4_decodes_with_heads_in_the_hidden_states_dtype(nf4: Backbone) -> None:
    bench = Bench(nf4, Reference.__new__(Reference))
    plain = tokens_of(bench.answer(PROMPT, Plain(), max_tokens=24))
    seen: list[tuple[torch.dtype, torch.device]] = []

    class Looking(OwnHeads):
        def guess(self, hidden: torch.Tensor, root: int, heads: int, top_k: int) -> Guesses:
            seen.append((hidden.dtype, hidden.device))
            return super().guess(hidden, root, heads, top_k)

    drafted = bench.answer(PROMPT, Medusa(Looking(), CartesianShape(), 3, 3), rule=Greedy(), budget=20, max_tokens=24)
    assert tokens_of(drafted) == plain
    assert set(seen) == {(torch.float32, torch.device("cpu"))}
    knowing = KnowingHeads([*PROMPT, *plain], lambda: nf4.length, VOCAB, rate=1.0)
    steps = bench.answer(PROMPT, Medusa(knowing, DynamicShape(), 4, 4), rule=Lossless(), budget=20, max_tokens=24)
    assert tokens_of(steps) == plain
    assert max(len(step.path) for step in steps) >= 3


@pytest.mark.default_model
@pytest.mark.timeout(600)
def test_default_model_decodes_in_nf4() -> None:
    backbone, tokenizer = load_backbone(find(DEFAULT_MODEL).folder(), quantize="nf4")
    bench = Bench(backbone, Reference.__new__(Reference))
    messages = [{"role": "user", "content": "What is the capital of France?"}]
    prompt = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=False)
    plain = tokens_of(bench.answer(prompt, max_tokens=8))
    knowing = KnowingHeads([*prompt, *plain], lambda: backbone.length, backbone.vocab_size, rate=1.0)
    steps = bench.answer(prompt, Medusa(knowing, DynamicShape(), 3, 2), budget=6, max_tokens=8)
    assert tokens_of(steps) == plain
    assert len(steps) < 8
    assert "Paris" in tokenizer.decode(plain)


@pytest.mark.parametrize("quantize", ["", "int2", "NF4", "4bit"])
def test_unknown_precision_is_refused(saved: Path, quantize: str) -> None:
    with pytest.raises(MedusaError, match="one of auto, none, fp16, int8, int4, nf4"):
        load_backbone(saved, quantize=quantize)


def refusal(folder: Path) -> str:
    with pytest.raises(MedusaError) as caught:
        load_backbone(folder)
    sentence = str(caught.value)
    assert str(folder) in sentence
    assert "\n" not in sentence
    return sentence


def test_folders_that_hold_no_model_are_said(tmp_path: Path) -> None:
    refusal(tmp_path / "nowhere")
    refusal(tmp_path)
    (tmp_path / "file").write_text("x")
    refusal(tmp_path / "file")


def test_a_config_that_cannot_be_read_is_said(broken: Path) -> None:
    (broken / "config.json").write_text("{")
    refusal(broken)
    (broken / "config.json").write_text("[]")
    refusal(broken)
    (broken / "config.json").write_text(json.dumps({"model_type": "unheard-of"}))
    refusal(broken)


def test_missing_weights_are_said(broken: Path) -> None:
    (broken / "model.safetensors").unlink()
    refusal(broken)


def test_cut_off_weights_are_said(broken: Path) -> None:
    weights = broken / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:5000])
    refusal(broken)
    weights.write_bytes(b"")
    refusal(broken)


def test_weights_of_another_shape_are_said(broken: Path) -> None:
    config = json.loads((broken / "config.json").read_text())
    (broken / "config.json").write_text(json.dumps({**config, "hidden_size": 32}))
    refusal(broken)


def test_weights_that_lack_a_layer_are_said(broken: Path) -> None:
    """transformers would fill the missing layer with random numbers."""
    config = json.loads((broken / "config.json").read_text())
    (broken / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 3}))
    refusal(broken)


def test_a_model_without_tokenizer_is_said(broken: Path) -> None:
    for file in broken.glob("tokenizer*"):
        file.unlink()
    refusal(broken)


def test_stages_are_told_by_what_is_done_in_them(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = compiled()
    monkeypatch.setattr(choosing, "library", lambda folder: code)
    stages: list[str] = []
    load_backbone(saved, native_folder=tmp_path, tell=stages.append)
    assert stages == [
        "reading weights",
        "checking how the model is built",
        "compiling for this processor, this once",
        "checking the compiled code",
        "packing weights",
    ]
    monkeypatch.setattr(choosing, "is_compiled", lambda folder: True)
    again: list[str] = []
    load_backbone(saved, native_folder=tmp_path, tell=again.append)
    assert again == [stage for stage in stages if not stage.startswith("compiling")]
