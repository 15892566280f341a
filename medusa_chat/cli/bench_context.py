"""`medusa-chat bench context`: what a step costs behind a longer context."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from medusa_chat.cli import options
from medusa_chat.cli.bench_options import finish, json_option, nodes_option
from medusa_chat.cli.exit_codes import DONE
from medusa_chat.cli.opening import open_session
from medusa_chat.cli.progress import Loading
from medusa_chat.cli.quiet import warn_of
from medusa_chat.engine.errors import MedusaError

if TYPE_CHECKING:
    from rich.table import Table

    from medusa_chat.bench.context import ContextCost


@click.command
@options.model_options
@nodes_option("1,8,16")
@json_option
def context(nodes: tuple[int, ...], file: Path | None, **flags: Any) -> int:
    """Say what a step costs, by size of its tree, behind 0.1k to 8k tokens, and how fast they are read."""
    with Loading() as loading:
        session = open_session(flags, loading)
        from medusa_chat.bench.context import LENGTHS, context_costs
        from medusa_chat.bench.machine import Others
        from medusa_chat.bench.subject import describe_subject

        others = Others()
        costs = list(context_costs(session.backbone, nodes, on_progress=loading.reading))
    if not costs:
        raise MedusaError(
            f"{session.model} holds {session.backbone.context} tokens, too few to measure behind {LENGTHS[0]}; "
            "choose a model with a longer context, or smaller --nodes."
        )
    warn_of(others, "meanwhile")
    settings = {**describe_subject(session), "nodes": nodes}
    finish([_table(costs, nodes)], {"contexts": [asdict(cost) for cost in costs]}, settings, file)
    return DONE


def _table(costs: list[ContextCost], nodes: tuple[int, ...]) -> Table:
    from medusa_chat.bench.table import figures_table, shown

    sizes = [f"{count} node{'s' if count > 1 else ''}, ms" for count in nodes]
    grid = figures_table("context", *sizes, "read, tokens/s", "all read, s")
    for cost in costs:
        grid.add_row(
            str(cost.rows),
            *(shown(cost.step_ms[count]) for count in nodes),
            shown(cost.read_tokens_per_second, 0),
            shown(cost.read_seconds),
        )
    return grid
