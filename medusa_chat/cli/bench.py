"""`medusa-chat bench`: decoders measured over a suite of questions, and commands that measure more closely."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from medusa_chat.bench.peers import PEERS
from medusa_chat.bench.selections import SELECTIONS
from medusa_chat.cli import options
from medusa_chat.cli.lazy import LazyCommand, LazyParent
from medusa_chat.cli.progress import Loading

if TYPE_CHECKING:
    from medusa_chat.bench.suite import Question

COMMANDS = {
    "profile": LazyCommand("medusa_chat.cli.bench_profile:profile", "Where a step's time goes, operator by operator."),
    "context": LazyCommand("medusa_chat.cli.bench_context:context", "What a step costs behind a longer context."),
    "turns": LazyCommand("medusa_chat.cli.bench_turns:turns", "How long each turn's first token takes."),
    "screen": LazyCommand("medusa_chat.cli.bench_screen:screen", "How quick the app's screen is."),
    "use": LazyCommand("medusa_chat.cli.bench_use:use", "What heads learn from a person who stays with one subject."),
    "drift": LazyCommand("medusa_chat.cli.bench_drift:drift", "What each precision does to the model's words."),
}

DEFAULT_DECODERS = "plain,medusa,lookup,joint"


def _split(_ctx: click.Context, _option: click.Parameter, value: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for part in (value or "").split(",") if part.strip()))


@click.command(cls=LazyParent, table=COMMANDS)
@click.argument("suite", type=click.Path(path_type=Path))
@options.model_options
@options.decoders_option(DEFAULT_DECODERS)
@click.option(
    "--peer",
    "peers",
    type=click.Choice(list(PEERS)),
    multiple=True,
    help="Measure this too, on the same prompts; may be given several times.",
)
@click.option(
    "--gguf", type=click.Path(path_type=Path), metavar="FILE", help="The model as the llamacpp peers read it."
)
@click.option(
    "--select",
    type=click.Choice(SELECTIONS),
    help="60: a fixed list, ten of each of Spec-Bench's families; all: every question.",
)
@click.option("--categories", callback=_split, metavar="A,B,...", help="Of the suite.  [default: MT-bench's, else all]")
@click.option("--limit", type=click.IntRange(min=1), help="At most this many questions, from all categories alike.")
@click.option("--multi-turn", is_flag=True, help="Ask all turns of a question, each decoder going on with its answers.")
@options.max_tokens_option(128)
@options.tree_options
@click.option("--json", "file", type=click.Path(path_type=Path), metavar="FILE", help="Write all figures here.")
@click.option("--svg", type=click.Path(path_type=Path), metavar="FILE", help="Draw the speedups here.")
@click.option("--resume", is_flag=True, help="Go on with the run that writes to the file of --json.")
@click.pass_context
def bench(ctx: click.Context, /, suite: Path, **flags: Any) -> int:
    """Measure decoders on SUITE, a file of questions in Spec-Bench form; the first turn of each is asked.

    Answers are greedy, so every decoder should write the same. Speed is that of decoding alone; decoders take turns
    question by question. ctrl-c keeps the questions done so far.
    """
    max_tokens = options.limits_of(flags).max_tokens
    contenders = [options.decoding_of(flags, name) for name in flags["decoders"]]
    _check(flags)
    questions = _questions(suite, flags)
    with Loading() as loading:
        loading("loading torch", None)
        from medusa_chat.cli.bench_run import run

    by_default = ctx.get_parameter_source("decoders") is ParameterSource.DEFAULT
    return run(suite, questions, contenders, max_tokens, {**flags, "decoders_by_default": by_default})


def _check(flags: dict[str, Any]) -> None:
    if flags["select"] and flags["categories"]:
        raise click.UsageError("--select and --categories both choose questions; leave out one.")
    if flags["resume"] and not flags["file"]:
        raise click.UsageError("--resume goes on with the run of a file; name it with --json.")
    if flags["svg"] and "plain" not in flags["decoders"]:
        raise click.UsageError("--svg draws speedups over plain decoding; add plain to --decoders.")


def _questions(suite: Path, flags: dict[str, Any]) -> list[Question]:
    from medusa_chat.bench.selections import select
    from medusa_chat.bench.suite import choose, load_suite

    questions = load_suite(suite)
    if flags["select"]:
        questions = select(questions, flags["select"])
    wanted = flags["categories"] or (list(dict.fromkeys(one.category for one in questions)) if flags["select"] else ())
    chosen = choose(questions, wanted, flags["limit"])
    return chosen if flags["multi_turn"] else [question.first_turn() for question in chosen]
