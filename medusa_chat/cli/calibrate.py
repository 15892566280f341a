"""`medusa-chat calibrate`: measure a model's heads, find their trees, and time this machine."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
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
    from medusa_chat.training.conversations import Conversation
    from medusa_chat.training.hidden import HiddenStates


@click.command
@click.option("--model", default=DEFAULT_MODEL, show_default=True, help="Model card, or a folder with a model.")
@click.option(
    "--data", type=click.Path(path_type=Path), multiple=True, required=True, help="The data the heads come from."
)
@click.option("--heads", "folder", type=click.Path(path_type=Path), help="Folder of heads.  [default: the model's own]")
@click.option(
    "--held-out",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.05,
    show_default=True,
    help="Share of conversations that training left out; as in training.",
)
@click.option("--limit", type=click.IntRange(min=1), default=300, show_default=True, help="Conversations at most.")
@click.option(
    "--again",
    type=click.IntRange(min=0),
    default=24,
    show_default=True,
    help="Held-out prompts that are answered again, to hold the expected tokens per step against decoding itself.",
)
@low_precision_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout, nothing else.")
def calibrate(
    model: str,
    data: tuple[Path, ...],
    folder: Path | None,
    held_out: float,
    limit: int,
    again: int,
    low_precision: bool,
    as_json: bool,
) -> int:
    """Measure the heads on conversations they were not trained on; writes calibration.json and a picture beside them.

    Finds how often each guess is right, what the heads' probabilities are worth, the best tree of each size, and, by
    timing this machine, how many nodes pay. Run it while nothing else runs.
    """
    from medusa_chat import catalog
    from medusa_chat.cli.calibration_report import Found, chart, event, table
    from medusa_chat.engine.cost import measure
    from medusa_chat.engine.loading import load_backbone
    from medusa_chat.heads.store import load_heads
    from medusa_chat.settings.paths import native_dir
    from medusa_chat.training import calibrate as measuring
    from medusa_chat.training.conversations import held_out as is_held_out
    from medusa_chat.training.conversations import read_all
    from medusa_chat.training.measured import decode_again

    card = catalog.find(model)
    folder = folder or card.heads_folder()
    if folder is None:
        raise MedusaError(f"{card.name} has no heads yet; train some, or name their folder with --heads.")
    unseen = [one for one in read_all(data).conversations if is_held_out(one, held_out)][:limit]
    if not unseen:
        raise MedusaError("None of these answers was held out of training; give more data.")
    with stage_progress(sys.stderr) as report:
        states = _hidden_states(card.folder(), unseen, low_precision, report)
        backbone, tokenizer = load_backbone(card.folder(), quantize="auto", native_folder=native_dir())
        heads = load_heads(folder, backbone).heads
        calibration = measuring.calibrate(heads, states, lambda stage: report(stage, 0, 1, ""))
        report("timing steps", 0, 1, "")
        cost = measure(backbone, heads, seconds=10.0)
        calibration = replace(calibration, budget=cost.best(calibration.expected))
        greedy = _evenly([one for one in unseen if not one.sampled], again)
        measured = [
            decode_again(
                backbone,
                tokenizer,
                heads,
                calibration,
                greedy,
                nodes,
                lambda done, of: report("decoding", done, of, ""),
            )
            for nodes in sorted({max(2, calibration.budget), 16})
            if greedy
        ]
    path = calibration.save(folder)
    found = Found(calibration, cost, measured)
    picture = folder / "calibration.svg"
    picture.write_text(chart(found, card.name), encoding="utf-8")
    if as_json:
        click.echo(json.dumps(event(found, path)))
    else:
        click.echo(table(found))
        click.echo(f"written: {path} and {picture.name}")
    return DONE


def _evenly(conversations: Sequence[Conversation], limit: int) -> Sequence[Conversation]:
    if limit >= len(conversations):
        return conversations
    return [conversations[index * len(conversations) // limit] for index in range(limit)]


def _hidden_states(
    folder: Path, conversations: Sequence[Conversation], low_precision: bool, report: Report
) -> HiddenStates:
    """From a copy of the model with unpacked weights, which reads many rows faster."""
    from tempfile import TemporaryDirectory

    from medusa_chat.engine.loading import load_backbone
    from medusa_chat.training import hidden
    from medusa_chat.training.conversations import check_ids

    backbone, _ = load_backbone(folder, packed=False)
    check_ids(conversations, backbone.vocab_size)
    with TemporaryDirectory() as temporary:
        hidden.compute(
            backbone.model,
            conversations,
            Path(temporary),
            low_precision=low_precision,
            on_progress=lambda done, of: report("hidden states", done, of, ""),
        )
        return hidden.load(Path(temporary), conversations)
