"""Weights as linear.h reads them: tiles of 16 outputs, blocks of 32 inputs, in 32, 8 or 4 bits."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from medusa_chat.kernels.native.structures import FLOAT, INT4, INT8

LANES, BLOCK = 16, 32


@dataclass(frozen=True, slots=True)
class Packed:
    """One layer's weights, ready for the C."""

    kind: int
    inputs: int
    outputs: int
    data: Tensor
    """uint8, flat."""


def pack(weight: Tensor, kind: int) -> Packed:
    """Lay out [out, in] float32 weights; `in` a multiple of 32."""
    padded = _padded(weight)
    if kind == FLOAT:
        tiles = padded.reshape(-1, LANES, weight.shape[1]).transpose(1, 2).contiguous()
        return Packed(kind, weight.shape[1], weight.shape[0], tiles.reshape(-1).view(torch.uint8))
    return _packed(weight, kind, *_rounded(padded, kind))


def pack_tight(weight: Tensor) -> Packed:
    """In 4 bits where those keep [out, in] weights as they are, else in 8.

    4 bits do when the weights came out of a 4-bit file whose blocks are 32 wide and span their own smallest and
    largest number (GGUF's Q4_1).
    """
    padded = _padded(weight)
    numbers, factors = _rounded(padded, INT4)
    lost = (_restored(numbers, factors, INT4) - padded).abs().max()
    if lost <= 1e-6 * padded.abs().max():
        return _packed(weight, INT4, numbers, factors)
    return pack(weight, INT8)


def unpack(weight: Tensor, kind: int) -> Tensor:
    """[out, in] float32: the weights that `pack` keeps of these."""
    return weight.float() if kind == FLOAT else _restored(*_rounded(weight.float(), kind), kind)


Factors = tuple[Tensor, ...]
"""Per output and block of inputs, each [out, in / 32] float16."""


def _padded(weight: Tensor) -> Tensor:
    return torch.nn.functional.pad(weight.float(), (0, 0, 0, -weight.shape[0] % LANES))


def _rounded(weight: Tensor, kind: int) -> tuple[Tensor, Factors]:
    return _eight_bits(weight) if kind == INT8 else _four_bits(weight)


def _restored(numbers: Tensor, factors: Factors, kind: int) -> Tensor:
    blocks = numbers.reshape(numbers.shape[0], -1, BLOCK).float()
    scale = factors[0].float()[..., None]
    offset = -128.0 * scale if kind == INT8 else factors[1].float()[..., None]
    return (blocks.mul_(scale).add_(offset)).reshape(numbers.shape)


def _packed(weight: Tensor, kind: int, numbers: Tensor, factors: Factors) -> Packed:
    return Packed(kind, weight.shape[1], weight.shape[0], _tiles(numbers, factors, kind))


def _eight_bits(weight: Tensor) -> tuple[Tensor, Factors]:
    """[out, in] uint8 and per block the step, symmetric around 128."""
    blocks = weight.reshape(weight.shape[0], -1, BLOCK)
    step = (blocks.abs().amax(dim=-1) / 127.0).half()
    numbers = (blocks / _safe(step)).round_().clamp_(-127, 127).add_(128)
    return numbers.to(torch.uint8).reshape(weight.shape), (step,)


def _four_bits(weight: Tensor) -> tuple[Tensor, Factors]:
    """[out, in] uint8 below 16 and per block the step and the smallest number."""
    blocks = weight.reshape(weight.shape[0], -1, BLOCK)
    low = blocks.amin(dim=-1)
    step, low = ((blocks.amax(dim=-1) - low) / 15.0).half(), low.half()
    numbers = (blocks - low.float()[..., None]).div_(_safe(step)).round_().clamp_(0, 15)
    return numbers.to(torch.uint8).reshape(weight.shape), (step, low)


def _safe(step: Tensor) -> Tensor:
    return torch.where(step > 0, step.float(), 1.0)[..., None]


def _tiles(numbers: Tensor, factors: Factors, kind: int) -> Tensor:
    """Tile by tile: [block][4 inputs at a time][16 outputs][4], then the factors [block][factor][16], to 64 bytes."""
    outputs, inputs = numbers.shape
    tiles, blocks = outputs // LANES, inputs // BLOCK
    quads = numbers.reshape(tiles, LANES, blocks, BLOCK // 4, 4).permute(0, 2, 3, 1, 4)
    if kind == INT4:
        half = BLOCK // 8
        quads = quads[:, :, :half] | quads[:, :, half:] << 4
    scales = torch.stack(factors, dim=-1).reshape(tiles, LANES, blocks, len(factors)).permute(0, 2, 3, 1)
    scales = scales.contiguous().view(torch.uint8).reshape(tiles, -1)
    padded = torch.nn.functional.pad(scales, (0, -scales.shape[1] % 64))
    return torch.cat([quads.reshape(tiles, -1), padded], dim=1).reshape(-1).contiguous()
