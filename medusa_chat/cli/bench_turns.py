"""`medusa-chat bench turns`: how long each turn's first token takes."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from medusa_chat.cli import options
from medusa_chat.cli.bench_options import finish, json_option
from medusa_chat.cli.exit_codes import DONE
from medusa_chat.cli.opening import open_session
from medusa_chat.cli.progress import Loading, countdown
from medusa_chat.cli.quiet import warn_of
from medusa_chat.engine.options import Decoding

if TYPE_CHECKING:
    from rich.table import Table

    from medusa_chat.bench.turns import TurnFigures


@click.command
@options.model_options
@options.decoder_option
@click.option("--turns", type=click.IntRange(min=1), default=10, show_default=True, help="Of a conversation.")
@click.option("--tokens", type=click.IntRange(min=1), default=64, show_default=True, help="Longest answer.")
@click.option("--repeats", type=click.IntRange(min=1), default=3, show_default=True, help="Conversations.")
@json_option
def turns(turns: int, tokens: int, repeats: int, file: Path | None, **flags: Any) -> int:
    """Say how long the first token of each turn takes in a conversation that is kept in the cache."""
    with Loading() as loading:
        session = open_session(flags, loading)
        from medusa_chat.bench.machine import Others
        from medusa_chat.bench.subject import describe_subject
        from medusa_chat.bench.turns import converse, growth, turn_figures

    others = Others()
    decoding = Decoding(flags["decoder"]) if flags["decoder"] else Decoding()
    runs = (list(converse(session, decoding, turns, tokens)) for _ in range(repeats))
    conversations = list(countdown(runs, repeats, "conversations"))
    warn_of(others, "meanwhile")
    figures = turn_figures(conversations)
    settings = {**describe_subject(session), "decoder": decoding.decoder, "tokens": tokens, "repeats": repeats}
    grown = growth(figures)
    finish([_table(figures)], {"turns": [asdict(one) for one in figures], "growth": grown}, settings, file)
    if grown is not None:
        click.echo(f"The first token of turn {turns} takes {grown:.2f} times as long as that of turn 2.")
    return DONE


def _table(figures: list[TurnFigures]) -> Table:
    from medusa_chat.bench.table import figures_table, shown

    grid = figures_table("turn", "prompt, tokens", "read, tokens", "first token, ms")
    for one in figures:
        grid.add_row(
            str(one.turn),
            shown(one.prompt_tokens, 0),
            shown(one.read_tokens, 0),
            shown(1000.0 * one.first_token_seconds, 1),
        )
    return grid
