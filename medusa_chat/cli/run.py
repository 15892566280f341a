"""`medusa-chat run`: one answer on stdout."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from medusa_chat.cli import options
from medusa_chat.cli.exit_codes import DONE, INTERRUPTED
from medusa_chat.cli.json_lines import emit
from medusa_chat.cli.opening import open_session
from medusa_chat.cli.preset_option import preset_option
from medusa_chat.cli.progress import Loading
from medusa_chat.cli.prompts import messages_of, prompt_argument
from medusa_chat.engine.text.harmless import harmless

if TYPE_CHECKING:
    from medusa_chat.cli.records import Told
    from medusa_chat.engine.options import Decoding
    from medusa_chat.host.session import Answer, Session


@click.command
@prompt_argument
@options.model_options
@preset_option
@options.decoder_option
@options.tree_options
@options.rule_options
@options.sampling_options
@options.limit_options
@options.system_option
@click.option("--stats", is_flag=True, help="Print the figures of the answer on stderr.")
@options.json_flag
def run(prompt: str | None, **flags: Any) -> int:
    """Answer PROMPT, or what is piped in, on stdout."""
    sampling = options.sampling_of(flags)
    decoding = options.decoding_of(flags, flags["decoder"] or _drafting(flags["tree"]))
    limits = options.limits_of(flags)
    messages = messages_of(prompt, flags["system"])

    with Loading() as loading:
        session = open_session(flags, loading)
    prompt_ids = session.prompt_ids(messages)
    measured = flags["stats"] or flags["as_json"]
    answer = session.start(prompt_ids, sampling, decoding, limits, loading.reading, probe=measured)
    told = _tell(session, answer, decoding, flags["as_json"])
    if flags["as_json"]:
        from medusa_chat.cli.records import done_event

        emit(done_event(told, seed=answer.seed, prefill_seconds=round(answer.prefill_seconds, 4)))
    if flags["stats"]:
        click.echo(_figures(told, answer.prefill_seconds), err=True)
    return INTERRUPTED if told.reason == "cancelled" else DONE


def _drafting(tree: str) -> str:
    """Who drafts when nobody is named: only medusa has a tree to choose."""
    return "joint" if tree == "dynamic" else "medusa"


def _tell(session: Session, answer: Answer, decoding: Decoding, as_json: bool) -> Told:
    """Print the answer as it grows."""
    from medusa_chat.cli.answering import follow
    from medusa_chat.cli.records import Told, step_event
    from medusa_chat.engine.statistics import Tally

    told = Told(decoding, answer.prompt_tokens, Tally(session.plain_ms))
    clean = harmless if sys.stdout.isatty() else str

    def show(text: str) -> None:
        click.echo(clean(text), nl=False)

    if as_json:
        follow(answer, told, lambda step: emit(step_event(step)), on_rest=lambda _text: None)
    else:
        follow(answer, told, lambda step: show(step.text), on_rest=show)
        click.echo()
    return told


def _figures(told: Told, prefill_seconds: float) -> str:
    tally = told.tally
    parts = [
        f"{told.label}: {tally.tokens} tokens in {tally.ms / 1000.0:.2f} s after {prefill_seconds:.2f} s of reading "
        f"{told.prompt_tokens}",
        _figure("tokens/s", tally.tokens_per_second, 1),
        _figure("tokens per step", tally.acceleration_rate, 2),
        _figure("overhead", tally.overhead, 2),
        _figure("speedup", tally.speedup, 2),
    ]
    return " · ".join(parts)


def _figure(name: str, value: float | None, digits: int) -> str:
    return f"{name} {'not measured' if value is None else f'{value:.{digits}f}'}"
