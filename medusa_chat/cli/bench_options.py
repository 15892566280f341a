"""What the closer measurements share: flags and the file they write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from medusa_chat.engine.options import MAX_BUDGET

_Command = TypeVar("_Command", bound=Callable[..., Any])

json_option = click.option(
    "--json", "file", type=click.Path(path_type=Path), metavar="FILE", help="Write all figures here."
)


def nodes_option(default: str) -> Callable[[_Command], _Command]:
    """`--nodes N,N`: sizes of candidate trees, given to the command as a tuple of rising numbers."""
    return click.option(
        "--nodes",
        default=default,
        show_default=True,
        metavar="N,N,...",
        callback=_split_nodes,
        help="Sizes of the candidate tree, root included.",
    )


def _split_nodes(_ctx: click.Context, _option: click.Parameter, value: str) -> tuple[int, ...]:
    parts = [part.strip() for part in value.split(",") if part.strip()]
    wrong = [part for part in parts if not (part.isascii() and part.isdigit() and 1 <= int(part) <= MAX_BUDGET)]
    if wrong or not parts:
        raise click.BadParameter(f"{', '.join(wrong) or 'nothing'} is no number of nodes between 1 and {MAX_BUDGET}.")
    return tuple(sorted({int(part) for part in parts}))


def finish(tables: list[Any], figures: dict[str, Any], settings: dict[str, Any], file: Path | None) -> None:
    """Show the tables; write the figures, with machine and settings, where a file is named.

    Raises:
        MedusaError: the file cannot be written.
    """
    from rich.console import Console

    from medusa_chat.bench.machine import describe
    from medusa_chat.bench.report import save

    console = Console(highlight=False, markup=False, emoji=False)
    for table in tables:
        console.print(table)
    if file is not None:
        save({"machine": describe(), "settings": settings, **figures}, file)
