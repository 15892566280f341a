"""`medusa-chat train`: give a model heads."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from medusa_chat.catalog import DEFAULT_MODEL
from medusa_chat.cli.distill import low_precision_option
from medusa_chat.cli.exit_codes import DONE
from medusa_chat.cli.stage_progress import Report, stage_progress
from medusa_chat.engine.text.harmless import harmless

if TYPE_CHECKING:
    from medusa_chat.training.run import Run

Command = TypeVar("Command", bound=Callable[..., Any])

_COMMON = (
    click.option("--model", default=DEFAULT_MODEL, show_default=True, help="Model card, or a folder with a model."),
    click.option(
        "--data",
        type=click.Path(path_type=Path),
        multiple=True,
        required=True,
        help="Conversations written by distill; may be given several times.",
    ),
    click.option(
        "--out", type=click.Path(path_type=Path), required=True, help="Run folder; heads end up in OUT/heads."
    ),
    click.option("--heads-from", type=click.Path(path_type=Path), help="Folder of heads to begin with."),
    click.option("--epochs", type=float, help="Times every conversation is seen.  [default: 5; Medusa-2: 1]"),
    click.option("--batch", type=int, default=512, show_default=True, help="Answer tokens a step."),
    click.option(
        "--accumulate", type=int, default=1, show_default=True, help="Parts a step is computed in: less memory."
    ),
    click.option(
        "--soft-share", type=float, default=0.8, show_default=True, help="Of the target: the model's own distribution."
    ),
    click.option(
        "--acceptance-share",
        type=float,
        default=0.0,
        show_default=True,
        help="Of the loss: -log of the overlap with it.",
    ),
    click.option("--dropout", type=float, default=0.2, show_default=True, help="Of the residual blocks."),
    click.option(
        "--held-out", type=float, default=0.05, show_default=True, help="Share of conversations to measure with."
    ),
    click.option("--seed", type=int, default=0, show_default=True),
    low_precision_option,
)


def _common(command: Command) -> Command:
    for option in reversed(_COMMON):
        command = option(command)
    return command


@click.group(invoke_without_command=True)
@click.option("--resume", type=click.Path(path_type=Path), help="Go on with the run in this folder.")
@click.pass_context
def train(context: click.Context, resume: Path | None) -> int | None:
    """Train Medusa heads for a model; `accelerate launch -m medusa_chat train ...` shares the work of several cards."""
    from medusa_chat.training.run import Run

    if context.invoked_subcommand is not None:
        if resume is not None:
            raise click.UsageError("--resume goes on with a run as it was begun: name nothing else.")
        return None
    if resume is None:
        click.echo(context.get_help())
        return DONE
    return _train(Run.load(resume), resume)


@train.command
@_common
@click.option("--heads", type=int, default=4, show_default=True)
@click.option("--layers", type=int, default=2, show_default=True, help="Residual blocks of each head.")
@click.option("--own-output", is_flag=True, help="An output layer for each head, instead of the model's for all.")
@click.option(
    "--see-root/--no-see-root",
    default=True,
    show_default=True,
    help="Show heads the root; others cannot read such heads.",
)
@click.option("--vocab", type=int, default=8_192, show_default=True, help="Most frequent tokens heads know; 0 for all.")
@click.option("--learning-rate", type=float, default=3e-3, show_default=True)
@click.option("--on-the-fly", is_flag=True, help="Keep no hidden states on the disk: slower from the second epoch on.")
@click.option("--quantize", type=click.Choice(["none", "nf4"]), default="none", show_default=True, help="Of the model.")
def medusa1(**flags: Any) -> int:
    """Train heads on a frozen model (Medusa-1) and say how often they are right on answers held out."""
    return _begin("medusa1", flags)


@train.command
@_common
@click.option("--rank", "lora_rank", type=int, default=32, show_default=True, help="Of the adapters.")
@click.option("--alpha", "lora_alpha", type=int, default=16, show_default=True, help="Of the adapters.")
@click.option(
    "--learning-rate",
    "backbone_rate",
    type=float,
    default=5e-4,
    show_default=True,
    help="Adapters; heads learn 4x as fast.",
)
@click.option(
    "--heads-weight", type=float, default=0.2, show_default=True, help="Of their loss beside the model's own."
)
@click.option(
    "--keep-words/--follow-data",
    default=True,
    show_default=True,
    help="Hold the model to what it said itself (KL), or to the words of the data.",
)
@click.option("--merge", is_flag=True, help="Also write the whole model with adapters merged in, as OUT/model.")
def medusa2(**flags: Any) -> int:
    """Train heads and low-rank adapters on the model together (Medusa-2); the model's words drift a little.

    Begins with the model's own heads, or those of --heads-from. Says how far the words drifted.
    """
    return _begin("medusa2", flags)


def _begin(method: Any, flags: dict[str, Any]) -> int:
    from medusa_chat.training.recipe import Recipe
    from medusa_chat.training.run import Run

    flags["epochs"] = flags["epochs"] if flags["epochs"] is not None else 5.0 if method == "medusa1" else 1.0
    known = {field.name for field in fields(Recipe)}
    recipe = Recipe(**{name: value for name, value in flags.items() if name in known})
    run = Run(
        method,
        flags["model"],
        tuple(str(path.absolute()) for path in flags["data"]),
        recipe,
        shlex.join(["medusa-chat", *sys.argv[1:]]),
        None if flags["heads_from"] is None else str(flags["heads_from"].absolute()),
        merge=flags.get("merge", False),
        quantize=flags.get("quantize", "none"),
        on_the_fly=flags.get("on_the_fly", False),
    )
    return _train(run, flags["out"], new=True)


def _train(run: Run, folder: Path, *, new: bool = False) -> int:
    from accelerate import Accelerator

    from medusa_chat import catalog
    from medusa_chat.engine.loading import load_backbone
    from medusa_chat.training.conversations import read_all

    data = read_all(map(Path, run.data))
    card = catalog.find(run.model)
    accelerator = Accelerator()
    if new and accelerator.is_main_process:
        run.begin(folder)
    if accelerator.is_main_process:
        where = harmless(str(folder.absolute()))
        click.echo(f"watch it in the app: medusa-chat, ctrl+p, Follow a training run, {where}", err=True)
    accelerator.wait_for_everyone()
    backbone, tokenizer = load_backbone(card.folder(), quantize=run.quantize, packed=False)
    with stage_progress(sys.stderr) as report:
        watched: Report = report if accelerator.is_main_process else lambda stage, done, of, note: None
        if run.method == "medusa1":
            from medusa_chat.cli.train_medusa1 import finish
        else:
            from medusa_chat.cli.train_medusa2 import finish
        said = finish(run, folder, data, card, backbone, tokenizer, accelerator, watched)
    if accelerator.is_main_process:
        for line in said:
            click.echo(line)
    return DONE
