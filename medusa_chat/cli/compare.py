"""`medusa-chat compare`: one prompt, several decoders, one verdict."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from medusa_chat.cli import options
from medusa_chat.cli.exit_codes import DONE, INTERRUPTED
from medusa_chat.cli.json_lines import emit
from medusa_chat.cli.opening import open_session
from medusa_chat.cli.preset_option import preset_option
from medusa_chat.cli.progress import Loading
from medusa_chat.cli.prompts import messages_of, prompt_argument
from medusa_chat.engine.options import Decoding, Limits, Sampling
from medusa_chat.engine.text.harmless import harmless

if TYPE_CHECKING:
    from medusa_chat.bench.differences import Parting
    from medusa_chat.cli.records import Told
    from medusa_chat.host.comparison import Comparison
    from medusa_chat.host.session import Session


@click.command
@prompt_argument
@options.model_options
@preset_option
@options.decoders_option("plain,joint,medusa,lookup")
@options.tree_options
@options.rule_options
@options.sampling_options
@options.limit_options
@options.system_option
@options.json_flag
def compare(prompt: str | None, **flags: Any) -> int:
    """Answer PROMPT, or what is piped in, with several decoders; say how fast each was and whether they agree.

    The first decoder is the one the others are held against; overhead and speedup are against plain decoding.
    """
    sampling = options.sampling_of(flags)
    lanes = [options.decoding_of(flags, name) for name in flags["decoders"]]
    limits = options.limits_of(flags)
    messages = messages_of(prompt, flags["system"])

    with Loading() as loading:
        session = open_session(flags, loading)
        comparison, answers = _race(session, messages, lanes, sampling, limits, loading)
    _hold_against_plain(answers)
    found = _first_parting(comparison, answers)
    cancelled = any(told.cut for told in answers)
    if flags["as_json"]:
        _emit(answers, found, comparison, cancelled)
    else:
        _print(answers)
        click.echo(_verdict_line(answers, found, cancelled))
    return INTERRUPTED if cancelled else DONE


def _race(
    session: Session,
    messages: list[dict[str, str]],
    lanes: list[Decoding],
    sampling: Sampling,
    limits: Limits,
    loading: Loading,
) -> tuple[Comparison, list[Told]]:
    from medusa_chat.cli.answering import follow_lanes
    from medusa_chat.cli.records import Told
    from medusa_chat.engine.statistics import Tally
    from medusa_chat.host.comparison import Comparison

    def reading(done: int, total: int) -> None:
        loading("reading the prompt", done / total)

    comparison = Comparison(session, session.prompt_ids(messages), lanes, sampling, limits, reading)
    answers = [Told(lane, comparison.prompt_tokens, Tally(session.plain_ms)) for lane in lanes]
    loading("answering, turn by turn", None)
    follow_lanes(comparison, answers)
    return comparison, answers


def _hold_against_plain(answers: list[Told]) -> None:
    """Where plain decoding ran along, its own steps are the measure, not those timed after loading."""
    plain_ms = next((told.tally.step_ms for told in answers if told.decoder == "plain" and told.tally.steps), None)
    if plain_ms is not None:
        for told in answers:
            told.tally.plain_ms = plain_ms


def _first_parting(comparison: Comparison, answers: list[Told]) -> tuple[Parting, Told] | None:
    """The earliest place where an answer leaves the first one, and whose answer that is; None where none does, as far
    as both got."""
    from medusa_chat.bench.differences import part
    from medusa_chat.host.partings import first_difference

    reference, *rest = answers
    places: dict[int, Told] = {}
    for told in rest:
        difference = first_difference(reference.tokens, told.tokens, cut=(reference.cut, told.cut))
        if difference is not None:
            places.setdefault(difference.index, told)
    if not places:
        return None
    index = min(places)
    other = places[index]
    parting = part(comparison.first, comparison.prompt_ids, reference.tokens[: index + 1], other.tokens[: index + 1])
    return None if parting is None else (parting, other)


def _emit(answers: list[Told], found: tuple[Parting, Told] | None, comparison: Comparison, cancelled: bool) -> None:
    """A script gets no verdict on answers that were cut short."""
    from medusa_chat.cli.records import done_event

    for told in answers:
        emit(done_event(told, seed=comparison.sampling.seed, prefill_seconds=round(comparison.prefill_seconds, 4)))
    if not cancelled:
        emit(_verdict_event(answers[0], found))


def _verdict_event(reference: Told, found: tuple[Parting, Told] | None) -> dict[str, Any]:
    first = None
    if found is not None:
        parting, other = found
        first = {**asdict(parting), "decoders": [reference.decoder, other.decoder]}
    return {"event": "verdict", "identical": first is None, "first_difference": first}


def _verdict_line(answers: list[Told], found: tuple[Parting, Told] | None, cancelled: bool) -> str:
    from medusa_chat.bench.table import describe

    if found is not None:
        parting, other = found
        return f"The answers differ: {describe(answers[0].decoder, other.decoder, parting)}."
    if cancelled:
        return "Stopped; as far as they got, the answers are identical, token for token."
    return "All answers are identical, token for token."


def _print(answers: list[Told]) -> None:
    """Each text once, under the names of those who wrote it; then the figures."""
    from rich.console import Console

    texts: dict[str, list[str]] = {}
    for told in answers:
        texts.setdefault(told.text, []).append(told.decoder)
    for text, names in texts.items():
        click.echo(f"[{', '.join(names)}]\n{harmless(text)}\n")
    Console(highlight=False, markup=False, emoji=False).print(_table(answers))


def _table(answers: list[Told]) -> Any:
    from medusa_chat.bench.table import figures_table, shown

    grid = figures_table("decoder", "tokens", "tokens/s", "tokens/step", "overhead", "speedup", "ended by")
    for told in answers:
        tally = told.tally
        grid.add_row(
            told.label,
            str(tally.tokens),
            shown(tally.tokens_per_second, 1),
            shown(tally.acceleration_rate),
            shown(tally.overhead),
            shown(tally.speedup),
            told.reason,
        )
    return grid
