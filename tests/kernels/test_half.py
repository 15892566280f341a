"""Layers with 16-bit weights: `nn.Linear` over rounded weights, and rows that know nothing of each other."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from doubles.tiny_families import tiny_model
from torch import nn

from medusa_chat.kernels import half
from medusa_chat.kernels.half import HalfLinear, half_works
from medusa_chat.kernels.swap import swap_linears, swapped

needs_half = pytest.mark.skipif(not half_works(), reason="this build of torch has no layers with 16-bit weights")
SIZES = [(48, 32), (33, 17), (256, 1000), (1, 5), (576, 1)]


def layer(columns: int, rows: int, bias: bool = True) -> nn.Linear:
    torch.manual_seed(columns)
    return nn.Linear(columns, rows, bias=bias).requires_grad_(False)


def rounded(linear: nn.Linear) -> nn.Linear:
    linear.weight.data = linear.weight.data.half().float()
    return linear


def test_fbgemm_has_them() -> None:
    """Where torch was built with it, which all its CPU wheels for x86 are."""
    assert half_works() == ("fbgemm" in torch.backends.quantized.supported_engines)


@needs_half
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(("columns", "rows"), SIZES)
def test_half_layer_is_linear_over_rounded_weights(columns: int, rows: int, bias: bool) -> None:
    replaced = HalfLinear(layer(columns, rows, bias), keep_weight=False)
    reference = rounded(layer(columns, rows, bias))
    for count in (1, 2, 5, 6, 7, 16, 33, 256):
        given = torch.randn(count, columns)
        torch.testing.assert_close(replaced(given), reference(given), atol=1e-5, rtol=1e-5)
    given = torch.randn(2, 3, columns)
    torch.testing.assert_close(replaced(given), reference(given), atol=1e-5, rtol=1e-5)
    given = torch.randn(columns, 9).T
    torch.testing.assert_close(replaced(given), reference(given), atol=1e-5, rtol=1e-5)


@needs_half
@pytest.mark.parametrize(("columns", "rows"), SIZES)
def test_a_row_depends_on_no_other_row(columns: int, rows: int) -> None:
    replaced = HalfLinear(layer(columns, rows), keep_weight=False)
    given = torch.randn(33, columns)
    together = replaced(given)
    for count in (1, 2, 5, 6, 16):
        torch.testing.assert_close(replaced(given[:count]), together[:count], atol=2e-6, rtol=2e-6)
    other = given.clone()
    other[1:] = 1e3
    assert torch.equal(replaced(other)[0], together[0])


@needs_half
def test_the_given_weight_is_left_as_it_is() -> None:
    linear = layer(48, 32)
    before = linear.weight.clone()
    assert HalfLinear(linear, keep_weight=True).weight is linear.weight
    assert HalfLinear(linear, keep_weight=False).weight is None
    assert torch.equal(linear.weight, before)


@needs_half
def test_weights_beyond_16_bits_keep_their_layer() -> None:
    linear = layer(48, 32)
    linear.weight[3, 4] = 1e6
    assert swapped(linear, HalfLinear) is linear
    assert linear.weight[3, 4] == 1e6


@needs_half
def test_other_layers_stay_as_they_are() -> None:
    for linear in (nn.Linear(4, 4).bfloat16(), type("Special", (nn.Linear,), {})(4, 4)):
        assert swapped(linear, HalfLinear) is linear


@needs_half
def test_a_whole_model_with_tied_weights() -> None:
    model, plain = tiny_model("gemma3", tie_word_embeddings=True), tiny_model("gemma3", tie_word_embeddings=True)
    assert swap_linears(model, HalfLinear) == 2 * 7 + 1
    assert model.get_output_embeddings().weight is model.get_input_embeddings().weight
    assert torch.equal(model.get_input_embeddings().weight, plain.get_input_embeddings().weight)
    ids = torch.arange(20)[None]
    with torch.inference_mode():
        wanted = plain(ids).logits
        torch.testing.assert_close(model(ids).logits, wanted, atol=1e-2 * float(wanted.abs().max()), rtol=0.0)


def test_without_the_operators_it_does_not_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(half.torch.ops, "quantized", SimpleNamespace())
    assert not half_works()


@needs_half
def test_operators_that_compute_something_else_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    right = HalfLinear.forward
    monkeypatch.setattr(HalfLinear, "forward", lambda self, rows: right(self, rows) * 1.1)
    assert not half_works()
    linear = layer(48, 32)
    assert swapped(linear, HalfLinear) is linear
