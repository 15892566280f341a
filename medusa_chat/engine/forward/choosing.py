"""Which forward path and which precision a loaded model gets on this machine."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from transformers import PreTrainedModel

from medusa_chat.engine.forward.anatomy import Anatomy
from medusa_chat.engine.forward.base import Forward
from medusa_chat.engine.forward.dissect import UnsupportedError, dissect
from medusa_chat.engine.forward.general import TransformersForward
from medusa_chat.engine.forward.lean import LeanForward
from medusa_chat.engine.forward.native import NativeForward, fits, take_over
from medusa_chat.engine.forward.proof import LIMITS, difference
from medusa_chat.kernels.half import HalfLinear, half_works
from medusa_chat.kernels.native.build import NativeCodeError, is_compiled, library
from medusa_chat.kernels.native.check import works
from medusa_chat.kernels.packed import PackedLinear, packing_works
from medusa_chat.kernels.swap import Kernel, swap_linears

Precision = Literal["none", "fp16", "int8", "int4", "nf4"]
PRECISIONS: tuple[Precision, ...] = get_args(Precision)

ON_CPU: dict[str, tuple[Precision, ...]] = {
    "int8": ("int8", "fp16", "none"),
    "int4": ("int4", "fp16", "none"),
    "fp16": ("fp16", "none"),
    "none": ("none",),
}
"""For each precision asked for what to try in turn."""
NAMES: dict[Precision, str] = {
    "none": "full precision",
    "fp16": "16 bits",
    "int8": "8 bits",
    "int4": "4 bits",
    "nf4": "4 bits",
}


@dataclass(frozen=True, slots=True)
class Choice:
    forward: Forward
    precision: Precision
    notes: tuple[str, ...]
    """Plain sentences: why not the lean path, why not the precision asked for."""


def choose(
    model: PreTrainedModel,
    quantize: str,
    native_folder: Path | None = None,
    tell: Callable[[str], None] = lambda stage: None,
) -> Choice:
    """May take over the model's weights: only its embedding and its output layer's weight stay readable.

    Args:
        quantize: "auto" or one of `PRECISIONS`; with "nf4" the model was loaded so.
        native_folder: where compiled code is kept; None leaves the native path out.
        tell: is told what is begun.

    Raises:
        MedusaError: the model cannot check a tree, on whatever path.
    """
    notes: list[str] = []
    tell("checking how the model is built")
    anatomy = _anatomy(model, notes)
    code = None
    if native_folder is not None and anatomy is not None and fits(anatomy):
        code = _native_code(native_folder, anatomy, notes, tell)
    tell("packing weights")
    for precision in _candidates(quantize, model.device.type, code is not None):
        forward = _native(code, anatomy, precision) or _in_torch(model, anatomy, precision)
        if forward is not None:
            break
    else:
        raise AssertionError("full precision is to be had everywhere")
    if quantize not in ("auto", precision):
        where = "processor" if model.device.type == "cpu" else "graphics card"
        notes.append(
            f"Weights of this model cannot be kept as {quantize} on this {where}; "
            f"they are in {NAMES[precision]} ({precision})."
        )
    return Choice(forward, precision, tuple(notes))


def _anatomy(model: PreTrainedModel, notes: list[str]) -> Anatomy | None:
    try:
        return proven(model)
    except UnsupportedError as reason:
        notes.append(f"This model runs on the general path, transformers' own forward, because {reason}.")
        return None


def proven(model: PreTrainedModel) -> Anatomy:
    """The model's anatomy, after a forward over it said what transformers' own says.

    Raises:
        UnsupportedError: it has none, or it was misread.
        MedusaError: the model cannot check a tree.
    """
    general = TransformersForward(model)
    anatomy = dissect(model)
    off = difference(LeanForward(anatomy, take_over=False), general, anatomy.embedding.shape[0])
    if not off <= LIMITS[anatomy.embedding.dtype]:
        raise UnsupportedError(f"the lean path misreads it (results are {off:.1%} off)")
    return anatomy


def _candidates(quantize: str, device: str, native: bool) -> tuple[Precision, ...]:
    """What to try in turn.

    "auto" wants the fastest whose words are those of the weights as they are. 8 bits are faster by far, but rounding
    activations changes one choice in fifty (docs/performance.md): a person must ask for that.
    """
    if quantize == "nf4":
        return ("nf4",)
    if device != "cpu":
        return ("none",)
    if quantize == "auto":
        return ("none",) if native else ("fp16", "none")
    return ON_CPU[quantize]


def _native_code(folder: Path, anatomy: Anatomy, notes: list[str], tell: Callable[[str], None]) -> ctypes.CDLL | None:
    """Compiled code that computes what it should; None, and a note, without it."""
    try:
        if not is_compiled(folder):
            tell("compiling for this processor, this once")
        code = library(folder)
    except NativeCodeError as reason:
        notes.append(str(reason))
        return None
    tell("checking the compiled code")
    if works(code) and _reads(code, anatomy):
        return code
    notes.append("The native CPU path is off: its compiled code failed its self-check.")
    return None


def _reads(code: ctypes.CDLL, anatomy: Anatomy) -> bool:
    """Whether native code says what the lean path says, over one layer of each kind: in full precision, because
    rounding would hide a part that is read wrongly, and not over all layers, which would need all weights twice."""
    kinds = {(layer.window, layer.rotates): layer for layer in anatomy.layers}
    sample = replace(anatomy, layers=tuple(kinds.values()))
    ours, theirs = NativeForward(code, sample, "none"), LeanForward(sample, take_over=False)
    return difference(ours, theirs, anatomy.embedding.shape[0]) <= LIMITS[anatomy.embedding.dtype]


def _native(code: ctypes.CDLL | None, anatomy: Anatomy | None, precision: Precision) -> Forward | None:
    """In C; None where that is not to be had."""
    if code is None or anatomy is None or not (precision == "none" or precision == "int8" or precision == "int4"):
        return None
    forward = NativeForward(code, anatomy, precision)
    take_over(anatomy)
    return forward


def _in_torch(model: PreTrainedModel, anatomy: Anatomy | None, precision: Precision) -> Forward | None:
    """By torch's own operators; None where they have no layers of this precision."""
    if precision in ("int8", "int4") or (precision == "fp16" and not half_works()):
        return None
    kernel = _kernel(precision, model.device.type)
    if anatomy is not None:
        return LeanForward(anatomy, kernel)
    if kernel is not None:
        swap_linears(model, kernel)
    return TransformersForward(model)


def _kernel(precision: Precision, device: str) -> Kernel | None:
    """What plain layers are replaced by."""
    if precision == "fp16":
        return HalfLinear
    return PackedLinear if precision == "none" and device == "cpu" and packing_works() else None
