"""`medusa-chat bench drift`: what each precision does to the model's words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from medusa_chat.catalog import DEFAULT_MODEL
from medusa_chat.cli.bench_options import finish, json_option
from medusa_chat.cli.exit_codes import DONE
from medusa_chat.cli.progress import Loading
from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.text.harmless import harmless

if TYPE_CHECKING:
    from rich.table import Table

    from medusa_chat.bench.drift import Drift
    from medusa_chat.engine.backbone import Backbone
    from medusa_chat.training.conversations import Conversation

REFERENCE = "none"


@click.command
@click.argument("answers", type=click.Path(path_type=Path))
@click.option("--model", default=DEFAULT_MODEL, show_default=True, help="Model card, or a folder with a model.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=40, show_default=True, help="At most this many answers, evenly."
)
@json_option
def drift(answers: Path, model: str, limit: int, file: Path | None) -> int:
    """Hold every precision of --quantize against the full weights, on the recorded ANSWERS of `medusa-chat distill`."""
    from medusa_chat.training.conversations import read_rows

    texts = _evenly([row for row in read_rows(answers) if row.answers], limit)
    if not texts:
        raise MedusaError(f"{answers} holds no answers; make some with medusa-chat distill.")
    with Loading() as loading:
        loading("loading torch", None)
        from medusa_chat.catalog import find
        from medusa_chat.engine.loading import load_backbone
        from medusa_chat.training.conversations import check_ids

        folder = find(model).folder()
        reference, _ = load_backbone(folder, quantize=REFERENCE)
        check_ids(texts, reference.vocab_size)
        drifts = _all(folder, reference, texts, loading)
    settings = {"model": model, "reference": reference.weight_type, "answers": str(answers), "limit": limit}
    figures = {"precisions": {name: asdict(one) for name, one in drifts.items()}}
    finish([_table(drifts, reference.weight_type)], figures, settings, file)
    return DONE


def _evenly(texts: Sequence[Conversation], limit: int) -> Sequence[Conversation]:
    return [texts[index * len(texts) // limit] for index in range(limit)] if limit < len(texts) else texts


def _all(folder: Path, reference: Backbone, texts: Sequence[Conversation], loading: Loading) -> dict[str, Drift]:
    """By precision; those that this machine cannot have are named on stderr and left out."""
    from medusa_chat.bench.drift import drift as measure
    from medusa_chat.engine.loading import QUANTIZE, load_backbone
    from medusa_chat.settings.paths import native_dir

    drifts: dict[str, Drift] = {}
    for name in QUANTIZE:
        if name in (REFERENCE, "auto"):
            continue
        loading(f"loading {name}", None)
        try:
            other, _ = load_backbone(folder, quantize=name, native_folder=native_dir())
        except MedusaError as error:
            _leave_out(name, str(error), loading)
            continue
        if other.precision != name:
            _leave_out(name, " ".join(other.notes), loading)
            continue
        drifts[name] = measure(reference, other, texts, partial(_tell, loading, name))
    return drifts


def _tell(loading: Loading, name: str, done: int, total: int) -> None:
    loading(f"reading in {name}", done / total)


def _leave_out(name: str, why: str, loading: Loading) -> None:
    loading.wipe()
    click.echo(f"{name} is left out: {harmless(why) or 'it is not to be had here'}", err=True)


def _table(drifts: dict[str, Drift], reference: str) -> Table:
    from medusa_chat.bench.table import figures_table, shown

    grid = figures_table("precision", "tokens", "KL, mean", "KL, 99 %", "perplexity", f"in {reference}", "same choice")
    for name, one in drifts.items():
        grid.add_row(
            name,
            str(one.tokens),
            f"{one.kl:.2e}",
            f"{one.kl_p99:.2e}",
            shown(one.perplexity, 4),
            shown(one.reference_perplexity, 4),
            f"{one.agreement:.2%}",
        )
    return grid
