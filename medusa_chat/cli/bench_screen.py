"""`medusa-chat bench screen`: how quick the app's screen is, measured in a pseudo-terminal."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import click

from medusa_chat.cli.bench_options import finish, json_option
from medusa_chat.cli.exit_codes import DONE
from medusa_chat.cli.progress import Loading

if TYPE_CHECKING:
    from medusa_chat.bench.screen import Archive, FirstPaint, Streaming

STARTS = 7
TURNS = 200
LENGTH = 1000
CONVERSATIONS, CONVERSATION_TURNS, SEARCHES = 5000, 10, 3

Row = tuple[str, str, str]
"""What was measured, the figure, what it should be."""


@click.command
@click.option(
    "--tokens",
    type=click.IntRange(min=LENGTH),
    default=100_000,
    show_default=True,
    help="Shown in all, in answers of 1,000 each.",
)
@click.option(
    "--rate", type=click.FloatRange(min=1.0), default=500.0, show_default=True, help="Tokens per second that arrive."
)
@json_option
def screen(tokens: int, rate: float, file: Path | None) -> int:
    """Measure the app itself in a pseudo-terminal of 120 by 40 cells, without a model.

    How long until its first frame; how soon a typed letter is shown, how much of a core and of memory it takes while
    answers stream into a conversation of 200 turns; how soon the list of 5,000 conversations and a search in them are
    there. With the default number of tokens it takes about five minutes.
    """
    from medusa_chat.bench.machine import Others
    from medusa_chat.bench.screen import archive, first_paint, streaming
    from medusa_chat.cli.quiet import warn_of

    others = Others()
    with Loading() as loading:
        loading("starting the app", None)
        painted = first_paint(STARTS)
        loading("reading and typing while answers stream in", None)
        streamed = streaming(rate, tokens, LENGTH, TURNS)
        loading("filling and opening years of conversations", None)
        kept = archive(CONVERSATIONS, CONVERSATION_TURNS, SEARCHES)
    warn_of(others, "meanwhile")
    rows = [*_start_rows(painted), *_streaming_rows(streamed, rate), *_archive_rows(kept)]
    figures = {"first_paint": asdict(painted), "streaming": asdict(streamed), "archive": asdict(kept)}
    finish([_table(rows)], figures, {"tokens": tokens, "tokens_per_second": rate, "answer_tokens": LENGTH}, file)
    return DONE


def _start_rows(painted: FirstPaint) -> list[Row]:
    return [
        ("first frame", f"{painted.median_seconds:.2f} s", "< 0.8 s"),
        ("torch or transformers in the screen's process", ", ".join(painted.heavy_modules) or "none", "none"),
    ]


def _streaming_rows(streamed: Streaming, rate: float) -> list[Row]:
    seen = streamed.seen
    memory = " / ".join(f"{bytes / 2**20:.0f}" for bytes in seen["memory_bytes"].values())
    after = " / ".join(f"{int(tokens):,}" for tokens in seen["memory_bytes"])
    return [
        ("answers shown whole", f"{seen['answers_whole']} of {seen['answers']}", "all"),
        ("tokens/s, pauses between answers included", f"{streamed.tokens_per_second:.0f}", f"about {rate:.0f}"),
        (f"key to frame, median of {len(streamed.keys)}", f"{1000 * streamed.key_percentile(50):.0f} ms", ""),
        ("key to frame, 99th percentile", f"{1000 * streamed.key_percentile(99):.0f} ms", "< 60 ms"),
        ("typed letters that were lost", f"{streamed.lost or 'none'}", "none"),
        ("of one core", f"{100 * streamed.core_share:.0f} %", "< 60 %"),
        (f"memory after {after} tokens", f"{memory} MiB", "flat"),
    ]


def _archive_rows(kept: Archive) -> list[Row]:
    return [
        (f"list of {kept.conversations:,} conversations", f"{1000 * median(kept.list_seconds):.0f} ms", "< 300 ms"),
        (f"search in {kept.messages:,} messages", f"{1000 * median(kept.search_seconds):.0f} ms", "< 200 ms"),
    ]


def _table(rows: list[Row]) -> object:
    from medusa_chat.bench.table import figures_table

    grid = figures_table("part", "measured", "wanted")
    for row in rows:
        grid.add_row(*row)
    return grid
