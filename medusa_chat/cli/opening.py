"""Loading a model for a command, with its progress and notes on stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from medusa_chat.cli.progress import Loading
from medusa_chat.engine.text.harmless import harmless

if TYPE_CHECKING:
    from medusa_chat.host.session import Session


def open_session(flags: dict[str, Any], loading: Loading) -> Session:
    """The session the flags `--model` and `--quantize` ask for.

    Raises:
        MedusaError: as `Session.open`.
    """
    loading("loading torch", None)
    from medusa_chat.host.session import Session

    session = Session.open(flags["model"], quantize=flags["quantize"], on_progress=loading)
    loading.wipe()
    for note in session.notes:
        click.echo(f"note: {harmless(note)}", err=True)
    return session
