"""Layers in C are what the same arithmetic gives in torch, on every instruction set, whatever rows stand beside a row."""

from __future__ import annotations

import ctypes
import platform
from pathlib import Path

import pytest
import torch
from doubles.native_library import TUNINGS, X86_TUNINGS, compiled
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from medusa_chat.kernels.native.check import rounded, works
from medusa_chat.kernels.native.linear import NativeLinear
from medusa_chat.kernels.native.structures import FLOAT, INT4, INT8
from medusa_chat.kernels.native.weights import BLOCK, pack, pack_tight, unpack


def runs_here(tuning: str) -> bool:
    if tuning in TUNINGS:
        return True
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8") if platform.system() == "Linux" else ""
    return {"AVX2": "avx2", "AVX-512 without VNNI": "avx512cd"}[tuning] in flags


def library_for(tuning: str) -> ctypes.CDLL:
    if not runs_here(tuning):
        pytest.skip(f"this CPU does not run {tuning}")
    return compiled({**TUNINGS, **X86_TUNINGS}[tuning])


def numbers(rows: int, columns: int, seed: int, scale: float = 1.0) -> Tensor:
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed)) * scale


def wanted(rows: Tensor, weight: Tensor, kind: int) -> Tensor:
    return (rows if kind == FLOAT else rounded(rows)).double() @ unpack(weight, kind).double().T


@pytest.mark.parametrize("tuning", [*TUNINGS, *X86_TUNINGS])
def test_the_self_check_holds_on_every_instruction_set(tuning: str) -> None:
    assert works(library_for(tuning))


@pytest.mark.parametrize("kind", [FLOAT, INT8, INT4])
@pytest.mark.parametrize("tuning", [*TUNINGS, *X86_TUNINGS])
def test_extreme_bytes_do_not_overflow(tuning: str, kind: int) -> None:
    weight = torch.full((16, 4096), 3.0)
    weight[::2] = -3.0
    weight[:, 0] = 0.0
    rows = torch.full((2, 4096), -7.0)
    result = NativeLinear(library_for(tuning), pack(weight, kind))(rows)
    assert torch.allclose(result.double(), wanted(rows, weight, kind), rtol=1e-5)


@given(
    kind=st.sampled_from([FLOAT, INT8, INT4]),
    count=st.integers(1, 40),
    outputs=st.integers(1, 70),
    blocks=st.integers(1, 7),
    seed=st.integers(0, 2**20),
)
def test_a_layer_is_its_arithmetic_for_any_shape(kind: int, count: int, outputs: int, blocks: int, seed: int) -> None:
    weight, rows = numbers(outputs, blocks * BLOCK, seed), numbers(count, blocks * BLOCK, seed + 1, scale=5.0)
    result = NativeLinear(compiled(), pack(weight, kind))(rows)
    expected = wanted(rows, weight, kind)
    assert result.shape == (count, outputs)
    assert (result - expected).abs().max() <= 2e-5 * max(1.0, float(expected.abs().max()))


@pytest.mark.parametrize("kind", [FLOAT, INT8, INT4])
@pytest.mark.parametrize("tuning", [*TUNINGS, *X86_TUNINGS])
def test_a_row_is_the_same_bit_for_bit_whatever_stands_beside_it(tuning: str, kind: int) -> None:
    layer = NativeLinear(library_for(tuning), pack(numbers(48, 96, 1), kind))
    rows = numbers(40, 96, 2)
    alone = torch.cat([layer(rows[i : i + 1]) for i in range(40)])
    for count in (2, 3, 5, 8, 11, 12, 13, 24, 25, 40):
        assert torch.equal(layer(rows[:count]), alone[:count])
    beside = rows.clone()
    beside[1:] = 1e6
    assert torch.equal(layer(beside)[0], alone[0])


def test_threads_change_nothing() -> None:
    layer, rows = NativeLinear(compiled(), pack(numbers(200, 64, 3), INT8)), numbers(9, 64, 4)
    before = torch.get_num_threads()
    results = []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            results.append(layer(rows))
    finally:
        torch.set_num_threads(before)
    assert torch.equal(results[0], results[1])
    assert torch.equal(results[0], results[2])


def test_weights_from_a_4_bit_file_stay_as_they_are() -> None:
    steps = numbers(32, 4, 5, scale=0.01).abs().half().float()[..., None]
    lowest = numbers(32, 4, 6, scale=0.1).half().float()[..., None]
    whole = torch.randint(0, 16, (32, 4, BLOCK), generator=torch.Generator().manual_seed(7))
    whole[..., 3], whole[..., 9] = 0, 15
    weight = (whole * steps + lowest).reshape(32, -1)
    packed = pack_tight(weight)
    assert packed.kind == INT4
    assert torch.allclose(unpack(weight, INT4), weight, atol=1e-6, rtol=0)


def test_other_weights_are_kept_in_8_bits() -> None:
    weight = numbers(32, 128, 8)
    assert pack_tight(weight).kind == INT8
    assert (unpack(weight, INT8) - weight).abs().max() <= weight.abs().max() / 250


def test_blocks_of_zeros_and_of_one_number_are_exact() -> None:
    weight = torch.zeros(16, 64)
    weight[:, 32:] = 0.5
    rows = torch.ones(1, 64)
    for kind in (FLOAT, INT8, INT4):
        assert torch.allclose(NativeLinear(compiled(), pack(weight, kind))(rows), torch.full((1, 16), 16.0), rtol=1e-3)
