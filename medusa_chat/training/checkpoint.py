"""Where a training run can go on: weights, optimiser and step, in its folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch

from medusa_chat.engine.errors import MedusaError

CHECKPOINT = "checkpoint.pt"


def save_checkpoint(folder: Path, state: dict[str, Any]) -> None:
    """In one move, so that a run killed at any moment keeps its last whole checkpoint."""
    temporary = folder / (CHECKPOINT + ".tmp")
    torch.save(state, temporary)
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    os.replace(temporary, folder / CHECKPOINT)


def load_checkpoint(folder: Path) -> dict[str, Any] | None:
    """None where there is none yet.

    Raises:
        MedusaError: it cannot be read.
    """
    path = folder / CHECKPOINT
    if not path.exists():
        return None
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        return state
    except (OSError, RuntimeError, ValueError, EOFError) as error:
        raise MedusaError(f"{path} cannot be read: delete it to begin the run anew.") from error
