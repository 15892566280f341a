"""`medusa-chat bench profile`: where one step's time goes."""

from __future__ import annotations

from dataclasses import asdict, replace
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
from medusa_chat.engine.options import Decoding

if TYPE_CHECKING:
    from rich.table import Table

    from medusa_chat.bench.profile import Profile

PROMPT = "Write a short story about a lighthouse keeper, then explain how a lighthouse works."
SHOWN = 16
"""Operators named in the table; the file holds all."""


@click.command
@options.model_options
@options.decoder_option
@nodes_option("1,8")
@click.option("--tokens", type=click.IntRange(min=2), default=64, show_default=True, help="Of the answer measured.")
@click.option("--prompt", default=PROMPT, metavar="TEXT", help="What is answered.")
@json_option
def profile(nodes: tuple[int, ...], tokens: int, prompt: str, file: Path | None, **flags: Any) -> int:
    """Say where one step's time goes: part by part, operator by operator, and what is Python."""
    with Loading() as loading:
        session = open_session(flags, loading)
        from medusa_chat.bench.machine import Others
        from medusa_chat.bench.profile import profile as measure
        from medusa_chat.bench.roofline import roofline
        from medusa_chat.bench.subject import describe_subject

        others = Others()
        decoding = Decoding(flags["decoder"]) if flags["decoder"] else Decoding()
        prompt_ids = session.prompt_ids([{"role": "user", "content": prompt}])
        profiles = {}
        for count in nodes:
            loading(f"profiling steps of {count} nodes", None)
            measured = measure(session, replace(decoding, budget=count), prompt_ids, tokens)
            if measured is None:
                raise MedusaError("The whole answer came in one step; ask for more --tokens or another --prompt.")
            profiles[count] = measured
        roof = roofline(session.backbone)
    warn_of(others, "meanwhile")
    settings = {**describe_subject(session), "decoder": decoding.decoder, "tokens": tokens, "prompt": prompt}
    tables = [table for count, measured in profiles.items() for table in _tables(count, measured)]
    if roof is not None:
        tables.append(
            f"A pass reads {roof.weight_bytes / 1e6:.0f} MB of weights; at the {roof.bytes_per_second / 1e9:.0f} GB/s "
            f"this machine reads, no pass can take less than {roof.ms:.2f} ms."
        )
    figures = {
        "profiles": {count: _as_json(measured) for count, measured in profiles.items()},
        "roofline": None if roof is None else {**asdict(roof), "ms": roof.ms},
    }
    finish(tables, figures, settings, file)
    return DONE


def _as_json(measured: Profile) -> dict[str, Any]:
    return {
        **asdict(measured),
        "total_ms": measured.total_ms,
        "verify_outside_operators_ms": measured.verify_outside_ms,
        "python_ms": measured.python_ms,
    }


def _tables(budget: int, measured: Profile) -> list[Table | str]:
    from medusa_chat.bench.table import figures_table, shown

    parts = figures_table("part", "ms a step", "share")
    title = f"Budget {budget}: {measured.nodes:.1f} nodes a step, {measured.steps} steps, {measured.forward} path"
    for part, ms in measured.step_ms.items():
        parts.add_row(part, shown(ms), _share(ms, measured))
    parts.add_section()
    parts.add_row("step", shown(measured.total_ms), _share(measured.total_ms, measured))
    return [title, parts, _operator_table(measured)]


def _operator_table(measured: Profile) -> Table:
    from medusa_chat.bench.table import figures_table, shown

    on_card = any(operator.device_ms for operator in measured.operators)
    grid = figures_table("operator", "ms a step", "share", "calls", *(["card, ms"] if on_card else []))
    for operator in measured.operators[:SHOWN]:
        card = [shown(operator.device_ms)] if on_card else []
        grid.add_row(operator.name, shown(operator.ms), _share(operator.ms, measured), shown(operator.calls, 1), *card)
    rest = measured.operators[SHOWN:]
    if rest:
        ms = sum(operator.ms for operator in rest)
        grid.add_row(f"{len(rest)} others", shown(ms), _share(ms, measured), shown(sum(one.calls for one in rest), 1))
    grid.add_section()
    native = measured.forward == "native"
    for kind, ms in measured.native_ms.items():
        grid.add_row(f"native: {kind}", shown(ms), _share(ms, measured), "")
    outside = measured.verify_outside_ms - sum(measured.native_ms.values())
    elsewhere = "Python elsewhere, native heads" if native else "Python elsewhere"
    for name, ms in (("Python of the pass, into operators", max(0.0, outside)), (elsewhere, measured.python_ms)):
        grid.add_row(name, shown(ms), _share(ms, measured), "")
    return grid


def _share(ms: float, measured: Profile) -> str:
    return f"{ms / measured.total_ms:.0%}"
