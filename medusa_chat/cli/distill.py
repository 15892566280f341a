"""`medusa-chat distill`: a model answers prompts, and the answers become training data for its heads."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from medusa_chat.catalog import DEFAULT_MODEL
from medusa_chat.cli.exit_codes import DONE
from medusa_chat.cli.stage_progress import stage_progress

low_precision_option = click.option(
    "--low-precision", is_flag=True, help="Multiply in bfloat16: several times faster on CPUs that can."
)


@click.command
@click.option("--model", default=DEFAULT_MODEL, show_default=True, help="Model card, or a folder with a model.")
@click.option("--prompts", type=click.Path(path_type=Path), required=True, help='JSONL, {"prompt": "..."} per line.')
@click.option("--out", type=click.Path(path_type=Path), required=True, help="JSONL to write; goes on where it ends.")
@click.option("--limit", type=click.IntRange(min=1), help="At most this many prompts.")
@click.option("--max-tokens", type=click.IntRange(min=1), default=220, show_default=True, help="Of each answer.")
@click.option("--batch", type=click.IntRange(min=1), default=32, show_default=True, help="Prompts answered together.")
@click.option("--temperature", type=click.FloatRange(min=0, min_open=True), default=0.7, show_default=True)
@click.option(
    "--greedy-share",
    type=click.FloatRange(0, 1),
    default=0.5,
    show_default=True,
    help="Share of the prompts answered greedily; the rest is sampled.",
)
@click.option("--seed", type=int, default=0, show_default=True)
@low_precision_option
def distill(model: str, prompts: Path, out: Path, limit: int | None, low_precision: bool, **flags: Any) -> int:
    """Let the model answer prompts and write exact token ids; prompts already answered in OUT are passed over.

    An interrupted run goes on with the same command.
    """
    from medusa_chat import catalog
    from medusa_chat.engine.loading import load_backbone
    from medusa_chat.engine.text.template import render
    from medusa_chat.training.distill import Distillation, read_prompts
    from medusa_chat.training.distill import distill as run

    how = Distillation(**flags)
    texts = read_prompts(prompts)[:limit]
    backbone, tokenizer = load_backbone(catalog.find(model).folder(), packed=False)
    if low_precision:
        backbone.model.bfloat16()
    rendered = [render(tokenizer, [{"role": "user", "content": text}]) for text in texts]
    with stage_progress(sys.stderr) as report:
        progress = run(
            backbone.model,
            backbone.eos_ids,
            rendered,
            out,
            how,
            backbone.context,
            lambda now: report("answers", now.answers, now.of, f"{now.tokens:,} tokens in this run"),
        )
    left_out = len({tuple(ids) for ids in rendered}) - progress.of
    note = f"; {left_out} prompts are too long for the context" if left_out else ""
    click.echo(f"{out}: {progress.answers:,} of {progress.of:,} prompts answered{note}.", err=True)
    return DONE
