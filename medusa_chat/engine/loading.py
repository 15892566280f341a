"""From a folder of weights to a backbone and its tokenizer, in the precision asked for or the next best."""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, get_args

import torch
from safetensors import SafetensorError
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig, PreTrainedTokenizerBase
from transformers.utils import logging as transformers_logging

from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.forward.choosing import choose

Quantize = Literal["auto", "none", "fp16", "int8", "int4", "nf4"]
QUANTIZE: tuple[Quantize, ...] = get_args(Quantize)


def load_backbone(
    folder: Path,
    *,
    quantize: str = "none",
    packed: bool = True,
    native_folder: Path | None = None,
    tell: Callable[[str], None] = lambda stage: None,
) -> tuple[Backbone, PreTrainedTokenizerBase]:
    """Load onto the GPU when there is one, else onto the CPU. Nothing is downloaded.

    Args:
        folder: config.json, safetensors and tokenizer files, as transformers writes them.
        quantize: "none" (float32 on a CPU, the weights' own 16-bit type on a GPU), "fp16" (weights in 16 bits,
            arithmetic in float32; CPU), "int8", "int4" (weights in 8 or 4 bits; CPU), "nf4" (4-bit by bitsandbytes
            >= 0.50) or "auto" (the fastest whose answers are as good as unchanged). What cannot be had is replaced by
            the next best; `Backbone.precision` and `Backbone.notes` say by what.
        packed: take the weights over for fast steps of few rows. Training reads many rows at once through the model
            itself: without, weights stay as transformers loads them and only "nf4" makes them smaller.
        native_folder: where code compiled for this CPU is kept; None leaves the native path out, and with it "int8"
            and "int4".
        tell: is told what is begun, in words fit to show.

    Raises:
        MedusaError: the folder holds no causal language model that can be read, or the precision is unknown.
    """
    if quantize not in QUANTIZE:
        raise MedusaError(f"quantize is {quantize!r}; it must be one of {', '.join(QUANTIZE)}.")
    transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    tell("reading weights")
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        dtype = compute_dtype(folder, device)
        # A pair, whatever the annotation says: the model and what loading it came upon.
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            folder,
            dtype=dtype,
            device_map={"": device},
            local_files_only=True,
            ignore_mismatched_sizes=True,
            output_loading_info=True,
            **_quantization(quantize, dtype),
        )
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, KeyError, ImportError, SafetensorError) as error:
        if getattr(error, "errno", None) == errno.ENOMEM:
            raise MemoryError from error
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise MedusaError(f"{folder} cannot be loaded as a language model: {reason}") from error
    model, report = loaded
    _require_all_weights(folder, report)
    model.eval().requires_grad_(False)
    if not packed:
        return Backbone(model, precision="nf4" if quantize == "nf4" else "none"), tokenizer
    choice = choose(model, quantize, native_folder, tell)
    return Backbone(model, choice.forward, precision=choice.precision, notes=choice.notes), tokenizer


def _require_all_weights(folder: Path, report: Mapping[str, Any]) -> None:
    """transformers fills what is missing or has another shape with random numbers; such a model writes nonsense."""
    names = sorted([*report["missing_keys"], *(name for name, *_shapes in report["mismatched_keys"])])
    if names:
        raise MedusaError(
            f"{folder} cannot be loaded as a language model: {len(names)} of its weights are missing or do not fit "
            f"its config.json, such as {names[0]}; get the model anew."
        )


def compute_dtype(folder: Path, device: torch.device) -> torch.dtype:
    """float32 on a CPU (16-bit layers cost one pass per row there); on a GPU the 16-bit type that suits it.

    Cards before compute capability 8.0 have no fast bfloat16; weights saved as float16 stay float16.
    """
    if device.type == "cpu":
        return torch.float32
    saved = getattr(AutoConfig.from_pretrained(folder, local_files_only=True), "dtype", None)
    if torch.cuda.get_device_capability(device) < (8, 0) or saved == torch.float16:
        return torch.float16
    return torch.bfloat16


def _quantization(quantize: str, dtype: torch.dtype) -> dict[str, Any]:
    if quantize != "nf4":
        return {}
    return {
        "quantization_config": BitsAndBytesConfig(  # type: ignore[no-untyped-call]
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_use_double_quant=True,
            # Its default, float32, silently sends steps of 8 rows and more to the slow path on a GPU.
            bnb_4bit_compute_dtype=dtype,
        )
    }
