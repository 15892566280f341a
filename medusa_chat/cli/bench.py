"""`medusa-chat bench`: decoders measured over a suite of questions."""

from __future__ import annotations

import shlex
import sys
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from medusa_chat.cli import options
from medusa_chat.cli.exit_codes import DONE, INTERRUPTED
from medusa_chat.cli.opening import open_session
from medusa_chat.cli.progress import Loading, countdown
from medusa_chat.engine.options import Decoding, as_dict

if TYPE_CHECKING:
    from medusa_chat.bench.peers import Peer
    from medusa_chat.bench.suite import Question
    from medusa_chat.bench.timed import Contestant, Sample
    from medusa_chat.host.session import Session

PEERS = ("hf", "hf-lookup", "llamacpp", "llamacpp-ngram")


def _split(_ctx: click.Context, _option: click.Parameter, value: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for part in (value or "").split(",") if part.strip()))


@click.command
@click.argument("suite", type=click.Path(path_type=Path))
@options.model_options
@options.decoders_option("plain,medusa,lookup")
@click.option(
    "--peer",
    "peers",
    type=click.Choice(PEERS),
    multiple=True,
    help="Measure this too, on the same prompts; may be given several times.",
)
@click.option(
    "--gguf", type=click.Path(path_type=Path), metavar="FILE", help="The model as the llamacpp peers read it."
)
@click.option("--categories", callback=_split, metavar="A,B,...", help="Of the suite.  [default: MT-bench's, else all]")
@click.option("--limit", type=click.IntRange(min=1), help="At most this many questions, from all categories alike.")
@options.max_tokens_option(128)
@options.tree_options
@click.option("--json", "file", type=click.Path(path_type=Path), metavar="FILE", help="Write all figures here.")
def bench(suite: Path, **flags: Any) -> int:
    """Measure decoders on the first turns of SUITE, a file in Spec-Bench form.

    Answers are greedy, so every decoder should write the same. Speed is that of decoding alone; decoders take turns
    question by question. ctrl-c keeps the questions done so far.
    """
    max_tokens = options.limits_of(flags).max_tokens
    contenders = [options.decoding_of(flags, name) for name in flags["decoders"]]

    from medusa_chat.bench.machine import Others
    from medusa_chat.bench.suite import choose, load_suite

    questions = choose(load_suite(suite), flags["categories"], flags["limit"])
    others = Others()
    with ExitStack() as processes:
        session, contestants, about = _load(flags, contenders, processes)
        _warn_of(others, "while loading")
        asked = _with_prompts(session, questions, max_tokens)
        settings = _settings(session, contenders, flags)
        settings["peers"] = about
        settings["skipped"] = sorted({question.id for question in questions} - {question.id for question, _ in asked})
        samples: list[Sample] = []
        others = Others()
        try:
            _fill(samples, session, contestants, asked, max_tokens)
            settings["interrupted"] = False
        except KeyboardInterrupt:
            return INTERRUPTED
        finally:
            settings.setdefault("interrupted", True)
            if samples:
                _warn_of(others, "during the run")
                _report(suite, settings, samples, others.share(), flags["file"])
    return DONE


def _load(
    flags: dict[str, Any], contenders: list[Decoding], processes: ExitStack
) -> tuple[Session, list[Contestant], dict[str, dict[str, Any]]]:
    """The session, all contestants, and what each peer says about itself."""
    with Loading() as loading:
        session = open_session(flags, loading)

        from medusa_chat.bench.decoders import OwnDecoder

        contestants: list[Contestant] = [OwnDecoder(session, decoding) for decoding in contenders]
        about = {}
        for name in dict.fromkeys(flags["peers"]):
            loading(f"starting the peer {name}", None)
            peer = processes.enter_context(_peer(name, flags, session))
            about[name] = peer.about
            contestants.append(peer)
    return session, contestants, about


def _peer(name: str, flags: dict[str, Any], session: Session) -> Peer:
    import torch

    from medusa_chat.bench.peers import Material, Peer
    from medusa_chat.catalog import find

    card = find(flags["model"])
    material = Material(card.folder(), flags["gguf"])
    return Peer(name, material, torch.get_num_threads(), session.backbone.eos_ids)


def _with_prompts(session: Session, questions: list[Question], max_tokens: int) -> list[tuple[Question, list[int]]]:
    """Questions with their token ids; those that leave no room for `max_tokens` are named and left out."""
    asked = []
    for question in questions:
        ids = session.prompt_ids([{"role": "user", "content": question.prompt}])
        if len(ids) + max_tokens > session.backbone.context:
            click.echo(
                f"question {question.id} is left out: {len(ids)} tokens and {max_tokens} of an answer are more than "
                f"the {session.backbone.context} the model holds",
                err=True,
            )
        else:
            asked.append((question, ids))
    return asked


def _settings(session: Session, contenders: list[Decoding], flags: dict[str, Any]) -> dict[str, Any]:
    return {
        **{name: flags[name] for name in ("model", "quantize", "max_tokens", "categories", "limit")},
        "temperature": 0.0,
        "fingerprint": session.backbone.fingerprint(),
        "precision": str(session.backbone.dtype).removeprefix("torch."),
        "decoding": {decoding.decoder: as_dict(decoding) for decoding in contenders},
        "command": shlex.join(["medusa-chat", *sys.argv[1:]]),
        "started": datetime.now().astimezone().isoformat(timespec="seconds"),
    }


def _fill(
    samples: list[Sample],
    session: Session,
    contestants: list[Contestant],
    asked: list[tuple[Question, list[int]]],
    max_tokens: int,
) -> None:
    """Adds one sample per question, so that those done stay when the run is broken off."""
    from functools import partial

    from medusa_chat.bench.differences import part
    from medusa_chat.bench.runner import measure

    run = measure(contestants, asked, max_tokens, partial(part, session))
    for sample in countdown(run, len(asked), "questions"):
        samples.append(sample)  # noqa: PERF402


def _report(
    suite: Path, settings: dict[str, Any], samples: list[Sample], others: float | None, file: Path | None
) -> None:
    from rich.console import Console

    from medusa_chat.bench.machine import describe
    from medusa_chat.bench.report import as_json, save
    from medusa_chat.bench.table import interval_lines, parting_lines, table

    console = Console(highlight=False, markup=False, emoji=False)
    console.print(table(samples))
    for line in (*interval_lines(samples), *parting_lines(samples)):
        console.print(line)
    if file is not None:
        machine = {**describe(), "used_by_others": None if others is None else round(others, 3)}
        save(as_json(str(suite), machine, settings, samples), file)


def _warn_of(others: Any, when: str) -> None:
    from medusa_chat.bench.machine import BUSY_SHARE

    share = others.share()
    if share is not None and share > BUSY_SHARE:
        click.echo(f"Other programs used {share:.0%} of the processor {when}; speeds will be off.", err=True)
