"""What `medusa-chat train medusa2` does once everything is loaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from medusa_chat.catalog.card import Card
from medusa_chat.cli.stage_progress import Report
from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.errors import MedusaError
from medusa_chat.heads.store import load_heads, save_heads
from medusa_chat.training import medusa2
from medusa_chat.training.conversations import Data
from medusa_chat.training.material import Split
from medusa_chat.training.run import Run


def finish(
    run: Run, folder: Path, data: Data, card: Card, backbone: Backbone, tokenizer: Any, accelerator: Any, report: Report
) -> Sequence[str]:
    """Train to the end, write adapter and heads (and the merged model where asked); returns what to tell."""
    source = Path(run.heads_from) if run.heads_from is not None else card.heads_folder()
    if source is None:
        raise MedusaError(
            f"{card.name} has no heads to begin with: train some with medusa-chat train medusa1 and name their folder "
            "with --heads-from."
        )
    heads = load_heads(source, backbone, frozen=False).heads
    split = Split.of(data.conversations, backbone, run.recipe.held_out)
    trained = medusa2.train(backbone, heads, split, folder, run.recipe, report, accelerator)
    moved = asdict(trained.drift)
    facts = {
        "method": run.method,
        **asdict(run.recipe),
        "conversations": trained.conversations,
        "steps": trained.steps,
        "held_out_top1": trained.accuracy.tops(1),
        "held_out_top5": trained.accuracy.tops(5),
        "drift": {name: round(value, 5) for name, value in moved.items()},
    }
    if accelerator.is_main_process:
        trained.model.save_pretrained(folder / "adapter")
        save_heads(trained.heads, folder / "heads", backbone, card.name, facts)
    written = [f"adapter: {folder / 'adapter'}", f"heads: {folder / 'heads'}"]
    if run.merge:
        written.append(f"merged model with its heads: {folder / 'model'}")
        if accelerator.is_main_process:
            merged = trained.model.merge_and_unload()
            merged.save_pretrained(folder / "model")
            tokenizer.save_pretrained(folder / "model")
            save_heads(trained.heads, folder / "model" / "heads", backbone, card.name, facts)
    return [
        f"heads' held-out loss: {trained.start[0]:.4f} on the frozen model, {trained.start[1]:.4f} in step 0",
        f"held-out top-1 per head: {trained.before.describe(1)} before, {trained.accuracy.describe(1)} now",
        f"held-out top-5 per head: {trained.before.describe(5)} before, {trained.accuracy.describe(5)} now",
        f"drift of the model's words: KL {trained.drift.kl:.4f} nats a token; perplexity of its own answers "
        f"{trained.drift.original_perplexity:.3f} before, {trained.drift.perplexity:.3f} now; "
        f"same first choice {100 * trained.drift.agreement:.1f} %",
        *written,
    ]
