"""Folders of training runs, as `medusa-chat train` writes them."""

from __future__ import annotations

import json
from math import exp
from pathlib import Path
from typing import Any

from medusa_chat.training.recipe import Recipe
from medusa_chat.training.run import HEADS, LOG, Run

STEPS = 1_200


def begun(folder: Path, method: Any = "medusa1") -> Path:
    """A run that has written nothing yet."""
    recipe = Recipe(layers=1, epochs=8.0, batch=256)
    command = f"medusa-chat train {method} --data own.jsonl --data shared.jsonl --out runs/first --layers 1 --epochs 8"
    Run(method, "smollm2-135m-instruct", ("/data/own.jsonl", "/data/shared.jsonl"), recipe, command).begin(folder)
    return folder


def rows(to: int, kl: bool = False) -> list[dict[str, Any]]:
    """Of the log, up to a step."""
    found: list[dict[str, Any]] = []
    for step in range(10, to + 1, 10):
        found.append({"step": step, "of": STEPS, "loss": 9 + 12 * exp(-step / 120), "tokens_per_second": 512.0})
        if step % 100 == 0:
            grown = 1 - exp(-step / 250)
            measured: dict[str, Any] = {
                "top1": [0.5 * grown * share for share in (1.0, 0.6, 0.4, 0.3)],
                "top5": [0.73 * grown * share for share in (1.0, 0.7, 0.55, 0.45)],
                "held_out_loss": 9.4 + 5 * exp(-step / 200),
            }
            found.append({"step": step, "of": STEPS, **measured, **({"kl": step / 50_000} if kl else {})})
    return found


def write(folder: Path, written: list[dict[str, Any]]) -> None:
    """Behind what the log holds."""
    with (folder / LOG).open("a", encoding="utf-8") as file:
        file.write("".join(json.dumps(row) + "\n" for row in written))


def end(folder: Path) -> None:
    """The heads are there."""
    (folder / HEADS).mkdir()
    (folder / HEADS / "config.json").write_text("{}")
