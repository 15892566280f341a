"""`medusa-chat train`: give a model heads."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from medusa_chat.catalog import DEFAULT_MODEL
from medusa_chat.cli.distill import low_precision_option
from medusa_chat.cli.exit_codes import DONE
from medusa_chat.cli.stage_progress import stage_progress
from medusa_chat.engine.errors import MedusaError

RECIPE = "recipe.json"


@click.group
def train() -> None:
    """Train Medusa heads for a model."""


@train.command
@click.option("--model", default=DEFAULT_MODEL, show_default=True, help="Model card, or a folder with a model.")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    multiple=True,
    required=True,
    help="Answers written by distill; may be given several times.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, help="Run folder; the heads end up in OUT/heads."
)
@click.option("--resume", is_flag=True, help="Go on with the run in OUT, with its own recipe.")
@click.option("--heads", type=int, default=4, show_default=True)
@click.option("--layers", type=int, default=2, show_default=True, help="Residual blocks of each head.")
@click.option("--own-output", is_flag=True, help="An output layer for each head, instead of the backbone's for all.")
@click.option(
    "--see-root/--no-see-root",
    default=True,
    show_default=True,
    help="Show heads the root; others cannot read such heads.",
)
@click.option("--vocab", type=int, default=8_192, show_default=True, help="Most frequent tokens heads know; 0 for all.")
@click.option("--epochs", type=float, default=5.0, show_default=True)
@click.option("--batch", type=int, default=512, show_default=True, help="Positions a step.")
@click.option("--learning-rate", type=float, default=3e-3, show_default=True)
@click.option(
    "--soft-share", type=float, default=0.8, show_default=True, help="Of the target: the backbone's own distribution."
)
@click.option("--dropout", type=float, default=0.2, show_default=True, help="Of the residual blocks.")
@click.option("--held-out", type=float, default=0.05, show_default=True, help="Share of conversations kept to measure.")
@click.option("--seed", type=int, default=0, show_default=True)
@low_precision_option
def medusa1(model: str, data: tuple[Path, ...], out: Path, resume: bool, **flags: Any) -> int:
    """Train heads on a frozen model (Medusa-1) and say how often they are right on answers held out.

    An interrupted run goes on with --resume.
    """
    from medusa_chat import catalog
    from medusa_chat.engine.loading import load_backbone
    from medusa_chat.heads.store import save_heads
    from medusa_chat.training import medusa1
    from medusa_chat.training.conversations import read_all
    from medusa_chat.training.recipe import Recipe

    recipe = _recipe(out, resume, Recipe(**flags), Recipe.load)
    data_read = read_all(data)
    card = catalog.find(model)
    backbone, _ = load_backbone(card.folder(), packed=False)
    with stage_progress(sys.stderr) as report:
        trained = medusa1.train(backbone, data_read.conversations, out, recipe, report)
    accuracy = trained.accuracy
    facts = {
        **asdict(recipe),
        "answers": trained.train_answers,
        "positions": trained.train_positions,
        "steps": trained.steps,
        "held_out_positions": accuracy.positions[0],
        "held_out_top1": [round(accuracy.top(head, 1), 4) for head in range(recipe.heads)],
        "held_out_top5": [round(accuracy.top(head, 5), 4) for head in range(recipe.heads)],
    }
    save_heads(trained.heads, out / "heads", backbone, card.name, {"method": "medusa1", **facts})
    click.echo(f"held-out top-1 per head: {accuracy.describe(1)}")
    click.echo(f"held-out top-5 per head: {accuracy.describe(5)}")
    click.echo(f"heads: {out / 'heads'}")
    return DONE


def _recipe(out: Path, resume: bool, asked: Any, load: Any) -> Any:
    """The run's recipe: written by a new run, read again by one that goes on."""
    path = out / RECIPE
    if resume:
        return load(path)
    if path.exists():
        raise MedusaError(f"{out} already holds a training run; add --resume to go on with it, or name another folder.")
    out.mkdir(parents=True, exist_ok=True)
    asked.save(path)
    return asked
