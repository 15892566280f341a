"""What `medusa-chat train medusa1` does once everything is loaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from medusa_chat.catalog.card import Card
from medusa_chat.cli.stage_progress import Report
from medusa_chat.engine.backbone import Backbone
from medusa_chat.heads.store import load_heads, save_heads
from medusa_chat.training import medusa1, on_the_fly
from medusa_chat.training.conversations import Data
from medusa_chat.training.material import Split
from medusa_chat.training.run import Run


def finish(
    run: Run, folder: Path, data: Data, card: Card, backbone: Backbone, tokenizer: Any, accelerator: Any, report: Report
) -> Sequence[str]:
    """Train to the end and write the heads; returns what to tell."""
    begin = None if run.heads_from is None else load_heads(Path(run.heads_from), backbone, frozen=False).heads
    split = Split.of(data.conversations, backbone, run.recipe.held_out)
    train = on_the_fly.train if run.on_the_fly else medusa1.train
    trained = train(backbone, split, folder, run.recipe, report, accelerator, begin)
    accuracy = trained.accuracy
    facts = {
        "method": run.method,
        **asdict(run.recipe),
        "conversations": trained.conversations,
        "positions": trained.positions,
        "steps": trained.steps,
        "held_out_positions": accuracy.positions[0],
        "held_out_top1": accuracy.tops(1),
        "held_out_top5": accuracy.tops(5),
    }
    if accelerator.is_main_process:
        save_heads(trained.heads, folder / "heads", backbone, card.name, facts)
    passed_over = data.passed_over + trained.passed_over
    return [
        f"held-out top-1 per head: {accuracy.describe(1)}",
        f"held-out top-5 per head: {accuracy.describe(5)}",
        *([f"conversations without an answer to learn from: {passed_over}"] if passed_over else []),
        f"heads: {folder / 'heads'}",
    ]
