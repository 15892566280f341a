"""Packed layers are `nn.Linear` in everything but speed."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from doubles.tiny_families import tiny_model
from torch import nn

from medusa_chat.engine.forward.choosing import choose
from medusa_chat.kernels import packed
from medusa_chat.kernels.packed import PackedLinear, packing_works
from medusa_chat.kernels.swap import swap_linears

HAVE_OPERATORS = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")
needs_packing = pytest.mark.skipif(not HAVE_OPERATORS, reason="this build of torch has no packed float32 layers")


def layer(columns: int, rows: int, bias: bool) -> nn.Linear:
    torch.manual_seed(columns)
    return nn.Linear(columns, rows, bias=bias).requires_grad_(False)


@needs_packing
def test_packing_is_used_where_its_operators_are() -> None:
    assert packing_works()


@needs_packing
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(("columns", "rows"), [(48, 32), (33, 17), (256, 1000), (1, 5), (576, 1)])
def test_packed_layer_equals_linear(columns: int, rows: int, bias: bool) -> None:
    linear = layer(columns, rows, bias)
    replaced = PackedLinear(linear, keep_weight=False)
    for count in (1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 63, 64, 65, 256):
        given = torch.randn(count, columns)
        torch.testing.assert_close(replaced(given), linear(given), atol=1e-5, rtol=1e-5)


@needs_packing
def test_packed_layer_takes_any_leading_shape() -> None:
    linear = layer(24, 40, bias=True)
    replaced = PackedLinear(linear, keep_weight=False)
    for shape in ((24,), (1, 24), (2, 3, 24), (1, 16, 24), (2, 2, 2, 24)):
        given = torch.randn(shape)
        assert replaced(given).shape == linear(given).shape
        torch.testing.assert_close(replaced(given), linear(given), atol=1e-5, rtol=1e-5)
    # Not contiguous, as attention hands it on.
    given = torch.randn(24, 9).T
    torch.testing.assert_close(replaced(given), linear(given), atol=1e-5, rtol=1e-5)


@needs_packing
def test_a_row_depends_on_no_other_row() -> None:
    replaced = PackedLinear(layer(64, 96, bias=True), keep_weight=False)
    given = torch.randn(16, 64)
    together = replaced(given)
    for row in range(16):
        torch.testing.assert_close(replaced(given[row : row + 1])[0], together[row], atol=1e-6, rtol=1e-6)
    other = given.clone()
    other[1:] = 1e3
    torch.testing.assert_close(replaced(other)[0], together[0], atol=1e-6, rtol=1e-6)


@needs_packing
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("family", ["llama", "qwen2", "phi3"])
def test_a_packed_model_says_the_same(family: str, tied: bool) -> None:
    plain, replaced = tiny_model(family, tie_word_embeddings=tied), tiny_model(family, tie_word_embeddings=tied)
    linears = sum(type(module) is nn.Linear for module in plain.modules())
    assert swap_linears(replaced, PackedLinear) == linears
    assert not any(type(module) is nn.Linear for module in replaced.modules())
    ids = torch.arange(20)[None]
    with torch.inference_mode():
        torch.testing.assert_close(replaced(ids).logits, plain(ids).logits, atol=1e-5, rtol=1e-5)
    # Heads share the output layer: its weight stays readable, and tied it stays the embedding itself.
    output = replaced.get_output_embeddings()
    assert torch.equal(output.weight, plain.get_output_embeddings().weight)
    assert (output.weight is replaced.get_input_embeddings().weight) is tied
    # Every other plain weight is gone, or it would lie in memory twice.
    kept = [module for module in replaced.modules() if isinstance(module, PackedLinear) and module.weight is not None]
    assert kept == [output]


@needs_packing
def test_only_plain_float32_layers_on_the_cpu_are_packed() -> None:
    class Special(nn.Linear):
        pass

    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4).to(torch.bfloat16), Special(4, 4), nn.Embedding(4, 4))
    assert swap_linears(model.requires_grad_(False), PackedLinear) == 1
    assert [type(module) for module in model] == [PackedLinear, nn.Linear, Special, nn.Embedding]


def _layers_after_loading() -> set[type[nn.Module]]:
    """Of a model on the general path, in full precision."""
    model = tiny_model("gemma3")
    assert choose(model, "none").forward.name == "transformers"
    return {type(module) for module in model.modules() if isinstance(module, nn.Linear | PackedLinear)}


@needs_packing
def test_where_the_operators_are_they_are_used_at_loading() -> None:
    assert _layers_after_loading() == {PackedLinear}


@needs_packing
def test_without_the_operators_the_layers_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed.torch.ops, "mkldnn", SimpleNamespace())
    assert not packing_works()
    assert _layers_after_loading() == {nn.Linear}


def test_without_onednn_the_layers_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    assert _layers_after_loading() == {nn.Linear}


@needs_packing
def test_operators_that_compute_something_else_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """The self-check looks at the numbers, not only at whether the operators answer."""
    right = PackedLinear.forward
    monkeypatch.setattr(PackedLinear, "forward", lambda self, rows: right(self, rows) * 1.01)
    assert not packing_works()
