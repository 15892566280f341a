"""Heads on disk: `medusa_lm_head.safetensors` and `config.json`, in the layout other programs publish and read.

Tensor names are those of FasterDecoding/Medusa: `{head}.{layer}.linear.weight` and `.bias`, and for heads with an
output layer of their own `{head}.{layers}.weight`. Heads that share the backbone's carry `"version": "2"` in the config
(written by `medusa/train/train_legacy.py` there, read by text-generation-inference). Beside these stands `token_map`
(vLLM's name) where the heads know only some tokens, and `root.weight` (ours alone) where they see the root. What belongs
to the backbone, a shared output layer and the embedding, is never stored.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.errors import MedusaError
from medusa_chat.heads.keys import Layout, layout_of
from medusa_chat.heads.medusa import MedusaHeads, restrict

WEIGHTS = "medusa_lm_head.safetensors"
CONFIG = "config.json"


@dataclass(frozen=True, slots=True)
class LoadedHeads:
    """Heads ready to draft for one backbone."""

    heads: MedusaHeads
    notes: tuple[str, ...] = ()
    """Plain sentences a person should read, such as a fingerprint of another backbone."""
    config: Mapping[str, Any] = field(default_factory=dict)


def save_heads(
    heads: MedusaHeads, folder: Path, backbone: Backbone, model_name: str, recipe: Mapping[str, Any]
) -> None:
    """Write both files, each in one move; weights as float16.

    Args:
        model_name: of the backbone, for people; what ties the heads to it is the fingerprint.
        recipe: how they were trained, JSON values only.
    """
    folder.mkdir(parents=True, exist_ok=True)
    config = {
        "medusa_num_heads": heads.count,
        "medusa_num_layers": heads.layers,
        "base_model_name_or_path": model_name,
        # Other programs would read heads that see the root as version 2 and guess badly without a word.
        **({} if heads.own_output or heads.sees_root else {"version": "2"}),
        "sees_root": heads.sees_root,
        "hidden_size": backbone.hidden_size,
        "vocab_size": backbone.vocab_size,
        "backbone_fingerprint": backbone.fingerprint(),
        "recipe": dict(recipe),
    }
    temporary = folder / f"{WEIGHTS}.tmp"
    save_file(_tensors(heads), temporary, metadata={"format": "pt"})
    os.replace(temporary, folder / WEIGHTS)
    temporary = folder / f"{CONFIG}.tmp"
    temporary.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    os.replace(temporary, folder / CONFIG)


def load_heads(folder: Path, backbone: Backbone, *, frozen: bool = True) -> LoadedHeads:
    """Read heads and attach them to `backbone`, on its device.

    Args:
        frozen: ready to draft, in the backbone's dtype; else as float32 parameters, to be trained further.

    Raises:
        MedusaError: a file is missing or damaged, a tensor is missing, unexpected or has the wrong shape, or the heads
            were made for a hidden size or vocabulary this backbone does not have.
    """
    config = _read_config(folder / CONFIG)
    tensors = _read_weights(folder / WEIGHTS)
    layout = layout_of(tensors, backbone.hidden_size, backbone.vocab_size, str(folder))
    heads = _assemble(tensors, layout, backbone)
    heads = heads.freeze(backbone.native_library) if frozen else heads.float()
    return LoadedHeads(heads, _notes(config, layout, backbone, folder), config)


def _tensors(heads: MedusaHeads) -> dict[str, Tensor]:
    tensors: dict[str, Tensor] = {}
    for head in range(heads.count):
        for layer in range(heads.layers):
            tensors[f"{head}.{layer}.linear.weight"] = _stored(heads.weights[layer, head])
            tensors[f"{head}.{layer}.linear.bias"] = _stored(heads.biases[layer, head])
        if heads.own_output:
            tensors[f"{head}.{heads.layers}.weight"] = _stored(heads.output[head])
    if heads.root_weight is not None:
        tensors["root.weight"] = _stored(heads.root_weight)
    if heads.token_map is not None:
        tensors["token_map"] = heads.token_map.cpu().contiguous()
    return tensors


def _stored(tensor: Tensor) -> Tensor:
    return tensor.detach().to("cpu", torch.float16).contiguous().clone()


def _assemble(tensors: Mapping[str, Tensor], layout: Layout, backbone: Backbone) -> MedusaHeads:
    def stacked(ending: str) -> Tensor:
        rows = [
            torch.stack([tensors[f"{head}.{layer}.linear.{ending}"] for head in range(layout.heads)])
            for layer in range(layout.layers)
        ]
        return torch.stack(rows).to(backbone.device, backbone.dtype)

    token_map = tensors["token_map"].to(backbone.device) if layout.mapped else None
    if layout.own_output:
        own = torch.stack([tensors[f"{head}.{layout.layers}.weight"] for head in range(layout.heads)])
        output = own.to(backbone.device, backbone.dtype)
    else:
        output = restrict(backbone.output_layer.weight, token_map)  # type: ignore[arg-type]
    root_weight = embedding = None
    if layout.sees_root:
        root_weight = tensors["root.weight"].to(backbone.device, backbone.dtype)
        embedding = backbone.embedding
    return MedusaHeads(
        stacked("weight"), stacked("bias"), output, token_map, root_weight=root_weight, embedding=embedding
    )


def _notes(config: Mapping[str, Any], layout: Layout, backbone: Backbone, folder: Path) -> tuple[str, ...]:
    notes = []
    fingerprint = config.get("backbone_fingerprint")
    if fingerprint is None:
        notes.append(f"The heads in {folder} do not say which backbone they were trained for; watch their acceptance.")
    elif fingerprint != backbone.fingerprint():
        trained_for = config.get("base_model_name_or_path", "another model")
        notes.append(
            f"The heads in {folder} were trained for other weights ({trained_for}); answers stay right, "
            "but few guesses may be kept."
        )
    claimed = config.get("medusa_num_heads")
    if claimed is not None and claimed != layout.heads:
        notes.append(f"{folder / CONFIG} speaks of {claimed} heads, but the file holds {layout.heads}; all are used.")
    return tuple(notes)


def _read_config(path: Path) -> dict[str, Any]:
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise MedusaError(f"{path} is missing; a folder of heads needs {CONFIG} and {WEIGHTS}.") from error
    except (OSError, ValueError) as error:
        raise MedusaError(f"{path} cannot be read as the config of heads ({error}).") from error
    if not isinstance(config, dict):
        raise MedusaError(f"{path} cannot be read as the config of heads; it holds no object.")
    return config


def _read_weights(path: Path) -> dict[str, Tensor]:
    if not path.exists():
        raise MedusaError(f"{path} is missing; a folder of heads needs {CONFIG} and {WEIGHTS}.")
    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise MedusaError(f"{path} is damaged or no safetensors file; get or train the heads anew.") from error
