"""`medusa-chat calibrate`: measure a model's heads, find their trees, and time this machine."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from medusa_chat.catalog import DEFAULT_MODEL
from medusa_chat.cli.distill import low_precision_option
from medusa_chat.cli.exit_codes import DONE
from medusa_chat.cli.stage_progress import Report, stage_progress
from medusa_chat.engine.errors import MedusaError

if TYPE_CHECKING:
    from medusa_chat.engine.cost import CostCurve
    from medusa_chat.engine.shapes.calibration import Calibration
    from medusa_chat.training.conversations import Conversation
    from medusa_chat.training.hidden import HiddenStates


@click.command
@click.option("--model", default=DEFAULT_MODEL, show_default=True, help="Model card, or a folder with a model.")
@click.option(
    "--data", type=click.Path(path_type=Path), multiple=True, required=True, help="The answers the heads come from."
)
@click.option("--heads", "folder", type=click.Path(path_type=Path), help="Folder of heads.  [default: the model's own]")
@click.option(
    "--held-out",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.05,
    show_default=True,
    help="Share of conversations that training left out; as in training.",
)
@click.option("--limit", type=click.IntRange(min=1), default=300, show_default=True, help="Answers at most.")
@low_precision_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout, nothing else.")
def calibrate(
    model: str,
    data: tuple[Path, ...],
    folder: Path | None,
    held_out: float,
    limit: int,
    low_precision: bool,
    as_json: bool,
) -> int:
    """Measure the heads on answers they were not trained on; writes calibration.json beside them.

    Finds how often each guess is right, what the heads' probabilities are worth, the best tree of each size, and, by
    timing this machine, how many nodes pay. Run it while nothing else runs.
    """
    from medusa_chat import catalog
    from medusa_chat.engine.cost import measure
    from medusa_chat.engine.loading import load_backbone
    from medusa_chat.heads.store import load_heads
    from medusa_chat.settings.paths import native_dir
    from medusa_chat.training import calibrate as measuring
    from medusa_chat.training.conversations import held_out as is_held_out
    from medusa_chat.training.conversations import read_all

    card = catalog.find(model)
    folder = folder or card.heads_folder()
    if folder is None:
        raise MedusaError(f"{card.name} has no heads yet; train some, or name their folder with --heads.")
    answers = [one for one in read_all(data).conversations if is_held_out(one, held_out)][:limit]
    if not answers:
        raise MedusaError("None of these answers was held out of training; give more data.")
    with stage_progress(sys.stderr) as report:
        states = _hidden_states(card.folder(), answers, low_precision, report)
        backbone, _ = load_backbone(card.folder(), quantize="auto", native_folder=native_dir())
        heads = load_heads(folder, backbone).heads
        found = measuring.calibrate(heads, states, lambda stage: report(stage, 0, 1, ""))
        report("timing steps", 0, 1, "")
        cost = measure(backbone, heads, seconds=10.0)
    found = replace(found, budget=cost.best(found.expected))
    path = found.save(folder)
    if as_json:
        ms = {size: round(cost.step_ms(size), 3) for size in (1, *found.expected)}
        gist = {"accuracy": found.accuracy, "expected": found.expected, "ms": ms, "budget": found.budget}
        click.echo(json.dumps({"event": "done", "file": str(path), "positions": found.positions, **gist}))
    else:
        _print(found, cost, path)
    return DONE


def _hidden_states(folder: Path, answers: list[Conversation], low_precision: bool, report: Report) -> HiddenStates:
    """From a copy of the model with unpacked weights, which reads many rows faster."""
    from tempfile import TemporaryDirectory

    from medusa_chat.engine.loading import load_backbone
    from medusa_chat.training import hidden
    from medusa_chat.training.conversations import check_ids

    backbone, _ = load_backbone(folder, packed=False)
    check_ids(answers, backbone.vocab_size)
    with TemporaryDirectory() as temporary:
        hidden.compute(
            backbone.model,
            answers,
            Path(temporary),
            low_precision=low_precision,
            on_progress=lambda done, of: report("hidden states", done, of, ""),
        )
        return hidden.load(Path(temporary), answers)


def _print(found: Calibration, cost: CostCurve, path: Path) -> None:
    click.echo(f"{found.positions:,} held-out positions")
    for head, ranks in enumerate(found.accuracy, 1):
        click.echo(f"head {head}: top-1 {ranks[0]:.3f}, top-5 {sum(ranks[:5]):.3f}, top-10 {sum(ranks[:10]):.3f}")
    click.echo("nodes  tokens/step  ms/step  overhead  speedup")
    for size in (1, *found.expected):
        expected = found.expected.get(size, 1.0)
        overhead = cost.overhead(size)
        mark = "  <- budget" if size == found.budget else ""
        click.echo(
            f"{size:5}  {expected:11.2f}  {cost.step_ms(size):7.1f}  {overhead:8.2f}  {expected / overhead:7.2f}{mark}"
        )
    click.echo(f"written: {path}")
