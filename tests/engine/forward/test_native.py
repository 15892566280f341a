"""The native path: transformers' numbers in full precision, and in every precision the same bits for a tree as without."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch
from doubles.llama_likes import WIDE, llama_like, worst_difference
from doubles.native_library import compiled
from doubles.tiny_families import VOCAB
from torch import nn

from medusa_chat.engine.forward.base import chain
from medusa_chat.engine.forward.dissect import dissect
from medusa_chat.engine.forward.general import TransformersForward
from medusa_chat.engine.forward.native import NativeForward, NativePrecision, fits, take_over
from medusa_chat.engine.tree import CandidateTree
from medusa_chat.kernels.native import decoder
from medusa_chat.kernels.native.check import rounded
from medusa_chat.kernels.native.structures import INT8, PHASES
from medusa_chat.kernels.native.weights import unpack

CLOSE = 1e-5
VARIATIONS: dict[str, dict[str, Any]] = {
    "llama": {},
    "tied": {},
    "gelu": {},
    "one key head": {},
    "no groups": {},
    "llama3 rope": {},
    "yarn": {},
    "mistral": {},
    "qwen2": {},
    "some layers slide": {},
    "qwen3": {},
    "phi3": {},
    "part of a head rotates": {},
    "smollm3": {},
    "llama, heads of 64": {"head_dim": 64},
    "llama, heads of 96": {"head_dim": 96},
    "llama, heads of 128": {"head_dim": 128},
    "llama, odd vocabulary": {"vocab_size": VOCAB + 5},
}


def model(name: str) -> nn.Module:
    return llama_like(name.split(",")[0], **{**WIDE, **VARIATIONS.get(name, {})})


def native(name: str, precision: NativePrecision = "none") -> NativeForward:
    anatomy = dissect(model(name))
    assert fits(anatomy)
    return NativeForward(compiled(), anatomy, precision)


@pytest.mark.parametrize("name", VARIATIONS)
def test_native_says_what_transformers_says(name: str) -> None:
    assert worst_difference(native(name), TransformersForward(model(name))) < CLOSE


def test_rows_are_kept_when_the_cache_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoder, "FIRST_ROWS", 16)
    assert worst_difference(native("llama"), TransformersForward(model("llama")), seed=3) < CLOSE


@pytest.mark.parametrize("precision", ["none", "int8", "int4"])
@pytest.mark.parametrize("name", ["llama", "qwen2", "qwen3", "mistral", "phi3", "some layers slide"])
def test_a_node_reads_the_same_bits_in_a_tree_as_alone(name: str, precision: NativePrecision) -> None:
    forward, draw = native(name, precision), random.Random(5)
    with torch.inference_mode():
        for prefix in (0, 1, 15, 16, 40, 100):
            forward.rewind(0)
            forward.run(chain([draw.randrange(VOCAB) for _ in range(prefix)] or [0]), last_only=True)
            forward.commit(range(prefix))
            parents = [-1, *(draw.randrange(max(0, node - 4), node) for node in range(1, 20))]
            tokens = [draw.randrange(VOCAB) for _ in parents]
            logits, hidden = forward.run(CandidateTree.build(tokens, parents, [1.0] * 20), last_only=False)
            path = [19]
            while parents[path[0]] >= 0:
                path.insert(0, parents[path[0]])
            for node in path:
                alone = forward.run(chain([tokens[node]]), last_only=False)
                assert torch.equal(alone[0][0], logits[node])
                assert torch.equal(alone[1][0], hidden[node])
                forward.commit([0])


@pytest.mark.parametrize("precision", ["none", "int8", "int4"])
def test_committed_rows_of_a_tree_are_those_of_plain_decoding(precision: NativePrecision) -> None:
    forward = native("llama", precision)
    tree = CandidateTree.build([5, 6, 7, 8, 9, 10], [-1, 0, 0, 2, 2, 4], [1.0] * 6)
    with torch.inference_mode():
        forward.run(tree, last_only=False)
        forward.commit([0, 2, 4, 5])
        after_tree = forward.run(chain([11, 12]), last_only=False)
        forward.rewind(0)
        forward.run(chain([5, 7, 9, 10]), last_only=True)
        forward.commit(range(4))
        after_chain = forward.run(chain([11, 12]), last_only=False)
    assert torch.equal(after_tree[0], after_chain[0])


def test_a_prompt_gives_the_same_bits_in_any_chunks() -> None:
    forward, tokens = native("llama", "int8"), [3 * place % VOCAB for place in range(70)]
    results = []
    with torch.inference_mode():
        for chunk in (70, 33, 12, 1):
            forward.rewind(0)
            for start in range(0, 70, chunk):
                part = tokens[start : start + chunk]
                last = forward.run(chain(part), last_only=True)
                forward.commit(range(len(part)))
            results.append(last)
    for logits, hidden in results[1:]:
        assert torch.equal(logits, results[0][0])
        assert torch.equal(hidden, results[0][1])


def test_low_bits_round_weights_and_activations_and_nothing_else() -> None:
    """transformers' forward with the same roundings says the same, but for numbers that lie between two steps."""
    same = model("llama")
    for module in same.modules():
        if isinstance(module, nn.Linear):
            module.weight.data = unpack(module.weight.data, INT8)
            module.register_forward_pre_hook(lambda _module, rows: (rounded(rows[0].flatten(0, -2)).view_as(rows[0]),))
    assert worst_difference(native("llama", "int8"), TransformersForward(same)) < 0.02
    assert worst_difference(native("llama", "int8"), TransformersForward(model("llama"))) > 0.02


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("biases", {}),
        ("llama", {"head_dim": 20}),
        ("llama", {"hidden_size": 48}),
        ("llama", {"intermediate_size": 80}),
    ],
)
def test_models_that_do_not_fill_its_tiles_are_left_to_others(name: str, changes: dict[str, Any]) -> None:
    assert not fits(dissect(llama_like(name, **{**WIDE, **changes})))


def test_other_types_of_numbers_are_left_to_others() -> None:
    assert not fits(dissect(llama_like("llama", **WIDE).to(torch.bfloat16)))


def test_weights_are_let_go_once_copied() -> None:
    source = model("llama")
    anatomy = dissect(source)
    forward = NativeForward(compiled(), anatomy, "int8")
    take_over(anatomy)
    assert not [name for name, _ in source.named_parameters() if "proj" in name]
    with torch.inference_mode():
        forward.run(chain([1, 2, 3]), last_only=True)


def test_rewinding_forwards_is_refused() -> None:
    forward = native("llama")
    with torch.inference_mode():
        forward.run(chain([1, 2, 3]), last_only=True)
    forward.commit([0, 1])
    with pytest.raises(ValueError, match="2 are committed"):
        forward.rewind(3)


def test_the_clock_of_a_pass_names_its_kinds_of_work_and_stops() -> None:
    forward, spent = native("llama", "int8"), {}
    with torch.inference_mode():
        with forward.phases(spent):
            forward.run(chain([1, 2, 3]), last_only=False)
        assert set(spent) == set(PHASES)
        assert all(ms > 0.0 for ms in spent.values())
        before = dict(spent)
        forward.run(chain([1, 2, 3]), last_only=False)
    assert spent == before


def test_every_pass_reads_all_weights_once() -> None:
    anatomy = dissect(model("llama"))
    linears = [
        linear
        for layer in anatomy.layers
        for linear in (*layer.qkv, layer.attention_output, *layer.gate_up, layer.down)
    ]
    numbers = sum(linear.weight.numel() for linear in [*linears, anatomy.output])
    assert native("llama").weight_bytes == 4 * numbers
    # A byte each, and a half-precision step for every 32, laid out to full cache lines.
    assert numbers * 34 / 32 <= native("llama", "int8").weight_bytes < numbers * 36 / 32
