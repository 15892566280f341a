"""`medusa-chat models`: which models there are, and bringing their weights here or taking them away."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import click

from medusa_chat import catalog
from medusa_chat.catalog.size import size
from medusa_chat.cli.pull_progress import pull_progress
from medusa_chat.engine.text.harmless import harmless

_json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object per line on stdout, nothing else.")
_name_argument = click.argument("name", default=catalog.DEFAULT_MODEL)


@click.group()
def models() -> None:
    """List, pull, describe and remove models."""


@models.command("list")
@_json_option
def list_(as_json: bool) -> None:
    """Every model there is a card for, whether its weights are here, and whether it fits into memory."""
    records = [_record(card) for card in catalog.all_cards()]
    if as_json:
        for record in records:
            _emit(record)
        return
    width = max((len(record["name"]) for record in records), default=0)
    for record in records:
        state = "here" if record["here"] else "not pulled"
        heads = "heads" if record["heads"] else "no heads"
        columns = f"{_size(record['disk_bytes']):>9}  {record['licence']:<12}  {state:<10}  {heads:<8}"
        click.echo(harmless(f"{record['name']:<{width}}  {columns}  {_fitting(record)}"))


@models.command()
@_name_argument
@_json_option
def info(name: str, as_json: bool) -> None:
    """All about one model: NAME or the path of a folder."""
    card = catalog.find(name)
    record = _record(card)
    if as_json:
        _emit(record)
        return
    rows = [
        ("name", card.name),
        ("title", card.title),
        ("licence", card.licence),
        ("parameters", "unknown" if card.parameters is None else f"{card.parameters / 1e6:,.0f} million"),
        ("context", "unknown" if card.context is None else f"{card.context:,} tokens"),
        ("on disk", _size(card.disk)),
        ("in memory", f"{_size(card.memory)} ({_fitting(record)})"),
        ("from", record["from"]),
        ("weights", record["folder"] or f"not here; get them with: medusa-chat models pull {card.name}"),
        ("heads", record["heads"] or "none"),
    ]
    for label, value in rows:
        click.echo(harmless(f"{label:<11} {value}"))
    if card.notes:
        click.echo(harmless(f"\n{card.notes}"))


@models.command()
@_name_argument
@_json_option
def pull(name: str, as_json: bool) -> None:
    """Download the weights of NAME, once; goes on where an interrupted pull stopped."""
    card = catalog.find(name)
    started = time.monotonic()
    already = card.is_here()
    if already:
        folder = card.folder()
    else:
        with pull_progress(card.name, sys.stderr) as on_progress:
            folder = catalog.pull(card, on_progress)
    if as_json:
        seconds = round(time.monotonic() - started, 3)
        _emit({"event": "done", "name": card.name, "folder": str(folder), "already": already, "seconds": seconds})
    else:
        click.echo(harmless(f"{card.name} is {'already ' if already else ''}here: {folder}"))


@models.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@_json_option
def remove(name: str, yes: bool, as_json: bool) -> None:
    """Delete the pulled weights of NAME; its card and heads stay."""
    card = catalog.find(name)
    if not yes and card.is_here():
        click.confirm(harmless(f"Delete the weights of {card.name} ({_size(card.disk)})?"), abort=True, err=True)
    removed = catalog.remove(card)
    if as_json:
        _emit({"event": "done", "name": card.name, "removed": removed})
    else:
        click.echo(harmless(f"{card.name} was {'removed' if removed else 'not here'}."))


def _record(card: catalog.Card) -> dict[str, Any]:
    here = card.is_here()
    heads = card.heads_folder()
    fit = catalog.fit(card)
    return {
        "name": card.name,
        "title": card.title,
        "licence": card.licence,
        "parameters": card.parameters,
        "context": card.context,
        "disk_bytes": card.disk,
        "memory_bytes": fit.needed,
        "available_bytes": fit.available,
        "fits": fit.fits,
        "source": card.source.kind,
        "from": card.source.described,
        "here": here,
        "folder": str(card.folder()) if here else None,
        "heads": None if heads is None else str(heads),
    }


def _fitting(record: dict[str, Any]) -> str:
    return {True: "fits in memory", False: "too large for the memory that is free", None: "memory unknown"}[
        record["fits"]
    ]


def _size(count: int | None) -> str:
    return "unknown" if count is None else size(count)


def _emit(record: dict[str, Any]) -> None:
    click.echo(json.dumps(record))
