"""One linear layer in the C of linear.h: what drafting heads are made of, and what the self-check looks at."""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor

from medusa_chat.kernels.native.structures import Linear
from medusa_chat.kernels.native.weights import Packed


class NativeLinear:
    """Called on [n, in] float32 rows; each row's result is the same whatever rows stand beside it."""

    def __init__(self, library: ctypes.CDLL, packed: Packed) -> None:
        self._library, self._packed = library, packed
        self._layer = Linear(packed.kind, packed.inputs, packed.outputs, 0, packed.data.data_ptr(), None)
        self._scratch = torch.empty(0, dtype=torch.uint8)

    def __call__(self, rows: Tensor) -> Tensor:
        """[n, in] float32 -> [n, out] float32."""
        rows = rows.contiguous()
        n = rows.shape[0]
        out = torch.empty(n, self._packed.outputs)
        size = self._library.medusa_linear_bytes(n, self._packed.inputs)
        if size > len(self._scratch):
            self._scratch = torch.empty(size, dtype=torch.uint8)
        self._library.medusa_linear(
            self._layer, rows.data_ptr(), n, out.data_ptr(), self._scratch.data_ptr(), torch.get_num_threads()
        )
        return out
