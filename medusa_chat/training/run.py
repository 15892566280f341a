"""The folder of a training run: what was asked, how it goes, where it can go on.

`run.json` (method, model, data, recipe, command), `log.jsonl` (a row every few steps, one per measurement),
`curves.svg`, `checkpoint.pt` and, at the end, `heads/` (and for Medusa-2 `adapter/`). The app follows it while the run
writes it, so nothing here needs torch.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from medusa_chat.engine.errors import MedusaError
from medusa_chat.pictures.lines import Line, Panel, line_chart
from medusa_chat.training.recipe import Recipe

Method = Literal["medusa1", "medusa2"]

RUN, LOG, CURVES, HEADS = "run.json", "log.jsonl", "curves.svg", "heads"


@dataclass(frozen=True, slots=True)
class Run:
    """What was asked for."""

    method: Method
    model: str
    data: tuple[str, ...]
    recipe: Recipe
    command: str
    """As it was typed."""
    heads_from: str | None = None
    """Folder of heads to begin with."""
    merge: bool = False
    """Medusa-2: also write the whole model with the adapters merged in."""
    quantize: str = "none"
    """What the frozen backbone is loaded in."""
    on_the_fly: bool = False
    """Medusa-1: no hidden states are kept."""

    def begin(self, folder: Path) -> None:
        """
        Raises:
            MedusaError: the folder holds a run already, or cannot be written.
        """
        if (folder / RUN).exists():
            raise MedusaError(
                f"{folder} already holds a training run: go on with medusa-chat train --resume {folder}, or name another."
            )
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / RUN).write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            raise MedusaError(f"{folder} cannot be written ({error.strerror}): name another folder.") from error

    @classmethod
    def load(cls, folder: Path) -> Run:
        """
        Raises:
            MedusaError: there is no run, or it cannot be read.
        """
        try:
            kept = json.loads((folder / RUN).read_text(encoding="utf-8"))
            return cls(**{**kept, "data": tuple(kept["data"]), "recipe": Recipe(**kept["recipe"])})
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise MedusaError(f"{folder} holds no training run: begin one with medusa-chat train medusa1.") from error


@dataclass(slots=True)
class Log:
    """Appends rows; a run that goes on first forgets what came after its checkpoint."""

    folder: Path

    def rewind(self, step: int) -> None:
        rows = [row for row in read_log(self.folder) if row.get("step", 0) <= step]
        temporary = self.folder / (LOG + ".tmp")
        temporary.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        os.replace(temporary, self.folder / LOG)

    def write(self, **row: Any) -> None:
        with (self.folder / LOG).open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")

    def draw(self) -> None:
        """The curves so far, in one move."""
        temporary = self.folder / (CURVES + ".tmp")
        temporary.write_text(curves(read_log(self.folder)), encoding="utf-8")
        os.replace(temporary, self.folder / CURVES)


def read_log(folder: Path) -> list[dict[str, Any]]:
    """All whole rows; a broken last one (being written, or its writer was killed) is passed over."""
    rows = []
    try:
        lines = (folder / LOG).read_text(encoding="utf-8").split("\n")
    except OSError:
        return []
    for line in lines:
        try:
            row = json.loads(line) if line else None
        except ValueError:
            row = None
        if isinstance(row, dict):
            rows.append(row)
    return rows


def curves(rows: Sequence[dict[str, Any]]) -> str:
    """Loss by step, and how often each head is right on held-out answers."""
    loss = tuple((row["step"], row["loss"]) for row in rows if "loss" in row)
    held_out = [row for row in rows if "top1" in row]
    panels = [Panel("training loss (smoothed)", [Line("loss", loss)], "steps", from_zero=False)]
    for name, title in (("top1", "held-out top-1"), ("top5", "held-out top-5")):
        heads = len(held_out[0][name]) if held_out else 0
        lines = [
            Line(f"head {head + 1}", tuple((row["step"], row[name][head]) for row in held_out)) for head in range(heads)
        ]
        panels.append(Panel(title, lines, "steps"))
    drift = tuple((row["step"], row["kl"]) for row in held_out if "kl" in row)
    panels.append(Panel("drift from the original model, KL in nats a token", [Line("KL", drift)], "steps"))
    return line_chart(panels, "A training run")
