"""`medusa-chat doctor`: machine, versions, model and heads, with advice."""

from __future__ import annotations

from dataclasses import asdict

import click

from medusa_chat.catalog import DEFAULT_MODEL
from medusa_chat.cli.json_lines import emit
from medusa_chat.cli.options import json_flag
from medusa_chat.engine.text.harmless import harmless

_MARKS = {"ok": "  ", "note": "! ", "problem": "✗ "}


@click.command
@click.option("--model", default=DEFAULT_MODEL, show_default=True, help="Model card, or a folder with a model.")
@json_flag
def doctor(model: str, as_json: bool) -> None:
    """Check machine, versions, model and heads; a line each, with advice where something can be better."""
    from medusa_chat.cli.checks import examine

    for check in examine(model):
        if as_json:
            emit({"event": "check", **asdict(check)})
            continue
        mark = click.style(_MARKS[check.state], fg={"note": "yellow", "problem": "red"}.get(check.state))
        click.echo(f"{mark}{check.name:<14} {harmless(check.value)}")
        if check.advice:
            click.echo(f"{'':<17}{harmless(check.advice)}")
