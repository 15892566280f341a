"""The compiled code against the same arithmetic in torch, before it is trusted."""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor

from medusa_chat.kernels.native.linear import NativeLinear
from medusa_chat.kernels.native.structures import FLOAT, INT4, INT8
from medusa_chat.kernels.native.weights import BLOCK, pack, unpack

LIMIT = 1e-5
"""Largest difference, relative to the largest result, that the order of additions explains."""


def works(library: ctypes.CDLL) -> bool:
    """Whether every kind of layer gives what it should, in rows together and alone."""
    return all(_kind_works(library, kind) for kind in (FLOAT, INT8, INT4))


def rounded(rows: Tensor) -> Tensor:
    """[n, in] float32 as the low-bit kinds read it: 8 bits per row and block of 32."""
    blocks = rows.reshape(rows.shape[0], -1, BLOCK)
    step = blocks.abs().amax(dim=-1, keepdim=True) / 127.0
    # Times the inverse, as the C does it: a division would send a number between two steps the other way now and then.
    inverse = torch.where(step > 0, 1.0 / step, 0.0)
    return ((blocks * inverse).round() * step).reshape(rows.shape)


def _kind_works(library: ctypes.CDLL, kind: int) -> bool:
    weight = torch.sin(torch.arange(40.0 * 96.0)).reshape(40, 96)
    rows = torch.cos(torch.arange(13.0 * 96.0) * 1.7).reshape(13, 96)
    layer = NativeLinear(library, pack(weight, kind))
    result, alone = layer(rows), layer(rows[5:6])
    wanted = (rows if kind == FLOAT else rounded(rows)).double() @ unpack(weight, kind).double().T
    return bool((result - wanted).abs().max() <= LIMIT * wanted.abs().max()) and torch.equal(result[5:6], alone)
