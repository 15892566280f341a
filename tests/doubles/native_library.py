"""The native code, compiled once per test run; where there is no compiler, a reason to skip."""

from __future__ import annotations

import ctypes
import functools
import tempfile
from pathlib import Path

import pytest

from medusa_chat.kernels.native.build import NativeCodeError, library

TUNINGS = {
    "this CPU": ("-march=native",),
    "any CPU": (),
}
"""Name -> compiler flags; on x86 also the older instruction sets, which a newer CPU runs too."""
X86_TUNINGS = {
    "AVX2": ("-mavx2", "-mfma", "-mf16c"),
    "AVX-512 without VNNI": ("-march=skylake-avx512",),
}


@functools.cache
def compiled(tuning: tuple[str, ...] = ("-march=native",)) -> ctypes.CDLL:
    """The library for these flags; skips the test where nothing can be compiled."""
    try:
        return library(Path(tempfile.gettempdir()) / "medusa-chat-tests", tuning)
    except NativeCodeError as reason:
        pytest.skip(str(reason))
