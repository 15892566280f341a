"""What `--json` prints: one object a line."""

from __future__ import annotations

import json
from typing import Any

import click


def emit(event: dict[str, Any]) -> None:
    """One line on stdout, ASCII alone, so that no text of a model reaches the terminal raw."""
    click.echo(json.dumps(event))
