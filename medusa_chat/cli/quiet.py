"""The quiet-machine check: speeds are worth little while others use the processor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from medusa_chat.bench.machine import Others


def warn_of(others: Others, when: str) -> None:
    """Say so on stderr if others used much of the processor since `others` was made."""
    from medusa_chat.bench.machine import BUSY_SHARE

    share = others.share()
    if share is not None and share > BUSY_SHARE:
        click.echo(f"Other programs used {share:.0%} of the processor {when}; speeds will be off.", err=True)
