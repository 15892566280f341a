"""`medusa-chat compare`: one prompt, several decoders, one verdict."""

from __future__ import annotations

import secrets
from dataclasses import asdict, replace
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
        prompt_ids = session.prompt_ids(messages)
        # Drawn once, so that all lanes draw the same numbers.
        sampling = sampling if sampling.greedy or sampling.seed is not None else replace(sampling, seed=_fresh_seed())
        answers = []
        for lane in lanes:
            loading(f"answering with {lane.decoder}", None)
            answers.append(_answer(session, prompt_ids, sampling, lane, limits))
            if answers[-1].reason == "cancelled":
                break
    _hold_against_plain(answers)
    cancelled = answers[-1].reason == "cancelled"
    parting, other = (None, None) if cancelled else _first_parting(session, prompt_ids, answers)
    if flags["as_json"]:
        from medusa_chat.cli.records import done_event

        for told in answers:
            emit(done_event(told, seed=sampling.seed))
        if not cancelled:
            emit(_verdict_event(answers[0], other, parting))
    else:
        _print(answers)
        if not cancelled:
            click.echo(_verdict_line(answers[0], other, parting))
    return INTERRUPTED if cancelled else DONE


def _fresh_seed() -> int:
    return secrets.randbits(31)


def _answer(session: Session, prompt_ids: list[int], sampling: Sampling, lane: Decoding, limits: Limits) -> Told:
    from medusa_chat.cli.answering import follow
    from medusa_chat.cli.records import Told
    from medusa_chat.engine.statistics import Tally

    answer = session.start(prompt_ids, sampling, lane, limits)
    told = Told(lane, answer.prompt_tokens, Tally(session.plain_ms))
    follow(answer, told, on_step=lambda _step: None, on_rest=lambda _text: None)
    return told


def _hold_against_plain(answers: list[Told]) -> None:
    """Where plain decoding ran along, its own steps are the measure, not those timed after loading."""
    plain_ms = next((told.tally.step_ms for told in answers if told.decoder == "plain" and told.tally.steps), None)
    if plain_ms is not None:
        for told in answers:
            told.tally.plain_ms = plain_ms


def _first_parting(session: Session, prompt_ids: list[int], answers: list[Told]) -> tuple[Parting | None, Told | None]:
    """The earliest place where an answer leaves the first one, and whose answer that is."""
    from medusa_chat.bench.differences import first_difference, part

    reference, *rest = answers
    differences = [(first_difference(reference.tokens, told.tokens), told) for told in rest]
    earliest = min(
        (found for found in differences if found[0] is not None),
        key=lambda found: found[0].index if found[0] else 0,
        default=None,
    )
    if earliest is None:
        return None, None
    return part(session, prompt_ids, reference.tokens, earliest[1].tokens), earliest[1]


def _verdict_event(reference: Told, other: Told | None, parting: Parting | None) -> dict[str, Any]:
    first = None
    if parting is not None and other is not None:
        first = {**asdict(parting), "decoders": [reference.decoder, other.decoder]}
    return {"event": "verdict", "identical": first is None, "first_difference": first}


def _verdict_line(reference: Told, other: Told | None, parting: Parting | None) -> str:
    from medusa_chat.bench.table import describe

    if parting is None or other is None:
        return "All answers are identical, token for token."
    return f"The answers differ: {describe(reference.decoder, other.decoder, parting)}."


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
