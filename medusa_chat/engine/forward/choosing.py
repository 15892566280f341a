"""Which forward path and which precision a loaded model gets on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from transformers import PreTrainedModel

from medusa_chat.engine.forward.anatomy import Anatomy
from medusa_chat.engine.forward.base import Forward
from medusa_chat.engine.forward.dissect import UnsupportedError, dissect
from medusa_chat.engine.forward.general import TransformersForward
from medusa_chat.engine.forward.lean import LeanForward
from medusa_chat.engine.forward.proof import LIMITS, difference
from medusa_chat.kernels.half import HalfLinear, half_works
from medusa_chat.kernels.packed import PackedLinear, packing_works
from medusa_chat.kernels.swap import Kernel, swap_linears

Precision = Literal["none", "fp16", "int8", "int4", "nf4"]
PRECISIONS: tuple[Precision, ...] = get_args(Precision)

ON_CPU: dict[str, tuple[Precision, ...]] = {
    "auto": ("fp16", "none"),
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


def choose(model: PreTrainedModel, quantize: str) -> Choice:
    """May take over the model's weights: only its embedding and its output layer's weight stay readable.

    Args:
        quantize: "auto" or one of `PRECISIONS`; with "nf4" the model was loaded so.

    Raises:
        MedusaError: the model cannot check a tree, on whatever path.
    """
    notes = []
    try:
        anatomy = proven(model)
    except UnsupportedError as reason:
        anatomy = None
        notes.append(f"This model runs on the general path, transformers' own forward, because {reason}.")
    for precision in _candidates(quantize, model.device.type):
        forward = _in_torch(model, anatomy, precision)
        if forward is not None:
            break
    else:
        raise AssertionError("full precision is to be had everywhere")
    if quantize not in ("auto", precision):
        where = "processor" if model.device.type == "cpu" else "graphics card"
        notes.append(
            f"Weights cannot be kept as {quantize} on this {where}; they are in {NAMES[precision]} ({precision})."
        )
    return Choice(forward, precision, tuple(notes))


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


def _candidates(quantize: str, device: str) -> tuple[Precision, ...]:
    """What to try in turn."""
    if quantize == "nf4":
        return ("nf4",)
    return ON_CPU[quantize] if device == "cpu" else ("none",)


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
