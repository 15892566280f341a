"""The lean path is transformers' forward in everything but speed."""

from __future__ import annotations

import pytest
import torch
from doubles.llama_likes import LLAMA_LIKES, llama_like, worst_difference
from doubles.tiny_families import VOCAB
from torch import nn

from medusa_chat.engine.forward.base import chain
from medusa_chat.engine.forward.dissect import dissect
from medusa_chat.engine.forward.general import TransformersForward
from medusa_chat.engine.forward.lean import LeanForward
from medusa_chat.kernels.half import HalfLinear, half_works
from medusa_chat.kernels.packed import PackedLinear, packing_works

CLOSE = 1e-5


@pytest.mark.parametrize("name", LLAMA_LIKES)
@pytest.mark.parametrize("take_over", [False, True])
def test_lean_says_what_transformers_says(name: str, take_over: bool) -> None:
    lean = LeanForward(dissect(llama_like(name)), take_over=take_over)
    assert worst_difference(lean, TransformersForward(llama_like(name))) < CLOSE


@pytest.mark.skipif(not packing_works(), reason="this build of torch has no packed float32 layers")
@pytest.mark.parametrize("name", ["llama", "tied", "biases", "qwen3", "phi3"])
def test_lean_over_packed_layers_says_the_same(name: str) -> None:
    lean = LeanForward(dissect(llama_like(name)), PackedLinear)
    assert worst_difference(lean, TransformersForward(llama_like(name))) < CLOSE


@pytest.mark.skipif(not half_works(), reason="this build of torch has no layers with 16-bit weights")
@pytest.mark.parametrize("name", ["llama", "tied", "biases", "qwen3", "phi3"])
def test_weights_in_16_bits_change_little(name: str) -> None:
    """Against a model whose weights were rounded to 16 bits beforehand nothing changes at all."""
    lean = LeanForward(dissect(llama_like(name)), HalfLinear)
    rounded = llama_like(name)
    for module in rounded.modules():
        if isinstance(module, nn.Linear) and not (name == "tied" and module is rounded.lm_head):
            module.weight.data = module.weight.data.half().float()
    if name == "tied":
        rounded.lm_head.weight = nn.Parameter(rounded.lm_head.weight.detach().half().float())
    assert worst_difference(lean, TransformersForward(rounded)) < CLOSE
    exact = TransformersForward(llama_like(name))
    assert CLOSE < worst_difference(LeanForward(dissect(llama_like(name)), HalfLinear), exact) < 1e-2


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", ["llama", "qwen3", "phi3"])
def test_lean_in_16_bit_arithmetic(name: str, dtype: torch.dtype) -> None:
    """As on a graphics card; the order of roundings differs."""
    lean = LeanForward(dissect(llama_like(name).to(dtype)))
    limit = 8e-2 if dtype == torch.bfloat16 else 1e-2
    assert worst_difference(lean, TransformersForward(llama_like(name).to(dtype))) < limit


def test_weights_are_taken_over_not_copied() -> None:
    model = llama_like("llama")
    lean = LeanForward(dissect(model))
    left = {name for name, _ in model.named_parameters() if "proj" in name}
    assert not left
    assert model.lm_head.weight.shape == (VOCAB, model.config.hidden_size)
    with torch.inference_mode():
        lean.run(chain([1, 2, 3]), last_only=True)


def test_a_model_that_is_only_called_keeps_its_weights() -> None:
    model, untouched = llama_like("qwen2"), llama_like("qwen2")
    with torch.inference_mode():
        LeanForward(dissect(model), take_over=False).run(chain([1, 2, 3]), last_only=True)
    for (name, ours), (_, theirs) in zip(model.named_parameters(), untouched.named_parameters(), strict=True):
        assert torch.equal(ours, theirs), name


def test_results_stay_valid_after_later_passes() -> None:
    lean = LeanForward(dissect(llama_like("llama")))
    with torch.inference_mode():
        logits, hidden = lean.run(chain([1, 2, 3]), last_only=False)
        copies = logits.clone(), hidden.clone()
        lean.commit([0, 1, 2])
        lean.run(chain([4, 5, 6]), last_only=False)
    assert torch.equal(logits, copies[0])
    assert torch.equal(hidden, copies[1])


def test_rewinding_forwards_is_refused() -> None:
    lean = LeanForward(dissect(llama_like("llama")))
    with torch.inference_mode():
        lean.run(chain([1, 2, 3]), last_only=True)
    lean.commit([0, 1])
    with pytest.raises(ValueError, match="2 are committed"):
        lean.rewind(3)
