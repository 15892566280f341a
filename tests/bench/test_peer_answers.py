"""What each peer answers, by its own software, on small random models."""

from __future__ import annotations

import json
from copy import deepcopy
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from doubles.tiny_gguf import write_tiny_gguf
from transformers import AutoModelForCausalLM, GenerationConfig, PreTrainedModel

from medusa_chat.bench.decoders import OwnDecoder
from medusa_chat.bench.peer_hf import generate
from medusa_chat.bench.peers import Material, Peer
from medusa_chat.catalog.gguf_to_safetensors import convert_file
from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.options import Decoding
from medusa_chat.heads.medusa import MedusaHeads
from medusa_chat.heads.store import load_heads, save_heads
from medusa_chat.host.session import Session

PROMPT = [3, 50, 60, 70, 80, 90]

needs_llamacpp = pytest.mark.skipif(find_spec("xllamacpp") is None, reason="needs the extra llamacpp")
needs_economize = pytest.mark.skipif(find_spec("economize") is None, reason="needs the extra economize")


@pytest.fixture(scope="module")
def model(tiny_model: Path) -> PreTrainedModel:
    return AutoModelForCausalLM.from_pretrained(tiny_model, dtype=torch.float32)


def test_hf_is_greedy_whatever_the_generation_config_says(session: Session, model: PreTrainedModel):
    plain = OwnDecoder(session, Decoding("plain")).answer(PROMPT, 24)
    # All that a comparison must not have.
    model.generation_config = GenerationConfig(
        do_sample=True, temperature=2.0, repetition_penalty=3.0, max_length=3, num_beams=2, min_new_tokens=20
    )
    answer = generate(model, PROMPT, 24, eos_ids=[])
    assert tuple(answer["tokens"]) == plain.tokens
    # The first token comes with the prompt: it is one of the answer's, but not one that was decoded.
    assert (answer["decoded"], answer["steps"]) == (23, 23)
    assert answer["seconds"] > 0
    assert answer["prefill_seconds"] > 0
    assert generate(model, PROMPT, 1, eos_ids=[])["decoded"] == 0
    stop = plain.tokens[10]
    stopped = generate(model, PROMPT, 24, eos_ids=[stop])
    assert tuple(stopped["tokens"]) == plain.tokens[: plain.tokens.index(stop) + 1]


def test_hf_lookup_says_the_same_in_fewer_steps_where_the_prompt_holds_the_answer(model: PreTrainedModel):
    plain = generate(model, PROMPT, 60, eos_ids=[])
    prompt = [*PROMPT, *plain["tokens"], *PROMPT]
    plain, lookup = (generate(model, prompt, 40, eos_ids=[], lookup=number) for number in (None, 10))
    assert lookup["tokens"] == plain["tokens"]
    assert lookup["steps"] < plain["steps"] == plain["decoded"] == 39
    # More than one token may come with the prompt.
    assert lookup["steps"] <= lookup["decoded"] <= 39


def test_hf_runs_in_a_process(model: PreTrainedModel, tiny_model: Path):
    for name in ("hf", "hf-lookup"):
        with Peer(name, Material(tiny_model), threads=1, eos_ids=()) as peer:
            assert list(peer.answer(PROMPT, 24).tokens) == generate(model, PROMPT, 24, eos_ids=[])["tokens"]
            assert peer.about["precision"] == "float32"


@needs_llamacpp
def test_llamacpp_reads_and_writes_the_very_ids_and_counts_what_it_decoded(tmp_path: Path):
    gguf = tmp_path / "tiny.gguf"
    write_tiny_gguf(gguf)
    convert_file(gguf, tmp_path / "weights")
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "weights", dtype=torch.float32)
    wanted = generate(model, PROMPT, 40, eos_ids=[2])["tokens"]
    for name in ("llamacpp", "llamacpp-ngram"):
        with Peer(name, Material(tmp_path, gguf), threads=1, eos_ids=(2,)) as peer:
            answers = [peer.answer(prompt, 40) for prompt in (PROMPT, PROMPT[:3], PROMPT)]
        assert list(answers[0].tokens) == list(answers[2].tokens) == wanted
        assert answers[0].decoded == len(wanted) - 1
        assert answers[0].peak_bytes


@needs_llamacpp
def test_guesses_that_llamacpp_kept_are_tokens_without_a_step_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from medusa_chat.bench.peer_llamacpp import Llamacpp

    write_tiny_gguf(tmp_path / "tiny.gguf")
    llamacpp = Llamacpp(str(tmp_path / "tiny.gguf"), 1, ngram=True)
    times = {"prompt_ms": 250.0, "predicted_ms": 500.0, "draft_n": 48, "draft_n_accepted": 29}
    asked = []
    monkeypatch.setattr(llamacpp, "_ask", lambda body: asked.append(body) or {"tokens": [*range(63)], "timings": times})
    answer = llamacpp.answer([1, 2], 64, [])
    assert (answer["decoded"], answer["steps"]) == (62, 33)
    assert (answer["seconds"], answer["prefill_seconds"]) == (0.5, 0.25)
    # Of what was read before only this very conversation may be taken as read.
    llamacpp.answer([1, 2, 0, 3], 64, [])
    llamacpp.answer([1, 2, 5, 3, 4], 64, [])
    llamacpp.answer([1, 2, 5, 3, 4], 64, [])
    assert [body["cache_prompt"] for body in asked] == [False, True, False, False]


@needs_economize
@pytest.mark.parametrize("see_root", [False, True])
@pytest.mark.parametrize("own_output", [False, True])
@pytest.mark.parametrize("restricted", [False, True])
def test_economize_reads_from_heads_what_this_project_reads(
    model: PreTrainedModel, tmp_path: Path, see_root: bool, own_output: bool, restricted: bool
):
    from medusa_chat.bench.peer_economize import attach

    heads = _random_heads(model, tmp_path, see_root, own_output, restricted)
    technique = attach(model, tmp_path).drafting_technique
    last, root = torch.randn(1, heads.weights.shape[-1]), torch.tensor([7])
    technique.roots = root
    with torch.inference_mode():
        wanted = heads.logits(heads(model.model.norm(last), root)).transpose(0, 1)
        assert torch.allclose(technique.head_logits(last), wanted, atol=1e-5)
        assert torch.allclose(technique.head_logits(last, 2), wanted[:, :2], atol=1e-5)


@needs_economize
def test_economize_says_the_same_in_fewer_steps_by_the_calibrated_tree(model: PreTrainedModel, tmp_path: Path):
    from medusa_chat.bench.peer_economize import NODES, attach, decode

    plain = generate(model, PROMPT, 40, eos_ids=[])["tokens"]
    # Fresh heads repeat the backbone's own guess: right where a random model stutters.
    known = torch.tensor(sorted(set(plain)))
    heads = MedusaHeads.fresh(model.lm_head.weight, 3, token_map=known)
    save_heads(heads, tmp_path, _backbone(model), "tiny", recipe={})
    chain = attach(model, tmp_path)
    (tmp_path / "calibration.json").write_text(json.dumps({"trees": {str(NODES): [[0], [1], [0, 0]]}}))
    tree = attach(model, tmp_path)
    assert [one.drafting_technique.config.tree for one in (chain, tree)] == [
        ((0,), (0, 0), (0, 0, 0)),
        ((0,), (1,), (0, 0)),
    ]
    for attached in (chain, tree):
        answer = decode(attached, PROMPT, 40, eos_ids=[])
        assert (answer["tokens"], answer["decoded"]) == (plain, 39)
        assert answer["steps"] < 39
    stopped = decode(tree, PROMPT, 40, eos_ids=[plain[10]])
    assert stopped["tokens"] == plain[: plain.index(plain[10]) + 1]


@needs_economize
def test_economize_runs_in_a_process(model: PreTrainedModel, tiny_model: Path):
    with Peer("economize", Material(tiny_model, heads=tiny_model / "heads"), threads=1, eos_ids=()) as peer:
        assert list(peer.answer(PROMPT, 24).tokens) == generate(model, PROMPT, 24, eos_ids=[])["tokens"]


def _random_heads(
    model: PreTrainedModel, folder: Path, see_root: bool, own_output: bool, restricted: bool
) -> MedusaHeads:
    """Saved in `folder`, and read from there, so that rounding on the way is the same for all."""
    torch.manual_seed(3)
    output = model.lm_head.weight
    token_map = torch.tensor([5, 2, 90, 41]) if restricted else None
    embedding = model.model.embed_tokens.weight if see_root else None
    heads = MedusaHeads.fresh(output, 3, 2, own_output=own_output, token_map=token_map, embedding=embedding)
    for parameter in heads.parameters():
        parameter.data.normal_(std=0.3)
    backbone = _backbone(model)
    save_heads(heads, folder, backbone, "tiny", recipe={})
    return load_heads(folder, backbone).heads


def _backbone(model: PreTrainedModel) -> Backbone:
    """Of a copy: a backbone changes how its model attends."""
    return Backbone(deepcopy(model))
