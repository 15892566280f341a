"""What `medusa-chat doctor` looks at. Each check says what is there and, where it matters, what to do about it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Literal

from medusa_chat import __version__
from medusa_chat.engine.errors import MedusaError

if TYPE_CHECKING:
    from medusa_chat.engine.cost import CostCurve

State = Literal["ok", "note", "problem"]

PACKAGES = ("torch", "transformers", "bitsandbytes", "textual")
LOW_MEMORY = 2 * 2**30
SHOWN_SIZES = (4, 8, 16, 32)
"""Nodes of the trees whose costs are told."""
NF4_ERROR = 0.16
"""Largest error of a weight in [-1, 1] that 4 bits explain: half the widest gap between NF4's levels is 0.152."""


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    state: State
    value: str
    advice: str = ""


def examine(model: str) -> Iterator[Check]:
    """All checks in order; one that fails becomes a line, never the end of the others."""
    parts: tuple[tuple[str, Callable[[], Iterator[Check]]], ...] = (
        ("versions", versions),
        ("machine", machine),
        ("graphics card", graphics_card),
        ("4-bit", four_bit),
        ("model", lambda: model_and_heads(model)),
        ("log", log),
    )
    for name, part in parts:
        yield from _never_failing(name, part)


def _never_failing(name: str, part: Callable[[], Iterator[Check]]) -> Iterator[Check]:
    try:
        yield from part()
    except MedusaError as error:
        yield Check(name, "problem", str(error))
    except Exception as error:
        yield Check(name, "problem", f"could not be checked: {type(error).__name__}: {error}")


def versions() -> Iterator[Check]:
    yield Check("medusa-chat", "ok", __version__)
    yield Check("python", "ok", sys.version.split()[0])
    yield from map(_package, PACKAGES)


def _package(name: str) -> Check:
    try:
        return Check(name, "ok", version(name))
    except PackageNotFoundError:
        return Check(name, "problem", "missing", "Install medusa-chat anew: pip install --force-reinstall medusa-chat.")


def machine() -> Iterator[Check]:
    import psutil
    import torch

    from medusa_chat.settings.machine import cpu_model

    yield Check("processor", "ok", cpu_model())
    physical, logical = psutil.cpu_count(logical=False), psutil.cpu_count()
    yield Check("cores", "ok", f"{physical or 'unknown'} ({logical or 'unknown'} logical)")
    capability = torch.backends.cpu.get_cpu_capability()
    few = capability == "DEFAULT"
    yield Check(
        "instructions",
        "note" if few else "ok",
        capability,
        "This processor has no AVX2: decoding will be slow." if few else "",
    )
    threads = torch.get_num_threads()
    idle = physical is not None and threads < physical
    yield Check(
        "threads",
        "note" if idle else "ok",
        str(threads),
        "Cores stand idle: unset OMP_NUM_THREADS." if idle else "",
    )
    memory = psutil.virtual_memory()
    low = memory.available < LOW_MEMORY
    yield Check(
        "memory",
        "note" if low else "ok",
        f"{memory.available / 2**30:.1f} of {memory.total / 2**30:.1f} GiB free",
        "Little is free: close other programs before loading a model." if low else "",
    )


def graphics_card() -> Iterator[Check]:
    import torch

    if not torch.cuda.is_available():
        built = torch.version.cuda is not None
        advice = "torch is built for a card: look at its driver." if built else ""
        yield Check("graphics card", "ok", "none; the processor does the work", advice)
        return
    major, minor = torch.cuda.get_device_capability()
    free, total = torch.cuda.mem_get_info()
    card = torch.cuda.get_device_name()
    yield Check("graphics card", "ok", f"{card}, capability {major}.{minor}, CUDA {torch.version.cuda}")
    yield Check("card memory", "ok", f"{free / 2**30:.1f} of {total / 2**30:.1f} GiB free")


def four_bit() -> Iterator[Check]:
    """Quantises a small matrix and back, on the device the backbone would be on."""
    import torch
    from bitsandbytes.functional import dequantize_4bit, quantize_4bit

    device = "cuda" if torch.cuda.is_available() else "cpu"
    weights = torch.linspace(-1.0, 1.0, 64, device=device).repeat(64, 1)
    packed, state = quantize_4bit(weights, quant_type="nf4")
    error = float((dequantize_4bit(packed, state) - weights).abs().max())
    if error > NF4_ERROR:
        yield Check("4-bit", "problem", f"weights come back {error:.2f} off", "Do not use --quantize nf4 here.")
    elif device == "cpu":
        yield Check(
            "4-bit", "ok", "works on the processor", "It saves memory there, not time; --quantize int8 is for speed."
        )
    else:
        yield Check("4-bit", "ok", "works on the card")


def model_and_heads(name: str) -> Iterator[Check]:
    """Loads the model where its weights are here, and the heads with it."""
    from medusa_chat.catalog import find

    card = find(name)
    if not card.is_here():
        yield Check(
            "model", "problem", f"{card.name} is not on this machine", f"Run medusa-chat models pull {card.name}."
        )
        return
    yield Check("model", "ok", f"{card.name} in {card.folder()}")

    from medusa_chat.host.session import Session

    session = Session.open(name, measure_anew=True)
    yield Check("forward path", "ok", f"{session.backbone.forward_name}, weights in {session.backbone.weight_type}")
    yield Check("plain step", "ok", f"{session.plain_ms:.1f} ms")
    yield Check("costs", "ok", _costs(session.costs))
    if session.heads is None:
        yield Check("heads", "note", "none", "Without heads only plain and lookup decoding work: medusa-chat train.")
    else:
        yield Check("heads", "ok", f"{session.heads.count} in {card.heads_folder()}")
        if session.calibration is None:
            yield Check("calibration", "note", "none", "Trees are guesses without it: medusa-chat calibrate.")
        else:
            yield Check("calibration", "ok", f"budget {session.calibration.budget}")
    for note in session.notes:
        yield Check("forward path" if note in session.backbone.notes else "heads", "note", note)


def _costs(costs: CostCurve) -> str:
    passes = ", ".join(f"{costs.pass_ms(nodes):.1f} ms for {nodes}" for nodes in SHOWN_SIZES)
    return f"{passes} nodes" + (f"; a draft {costs.draft_ms:.1f} ms" if costs.draft_ms else "")


def log() -> Iterator[Check]:
    from medusa_chat.settings.paths import log_file

    yield Check("log", "ok", str(log_file()))
