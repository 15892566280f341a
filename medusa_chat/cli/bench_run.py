"""One run over a suite: who answers, what is asked, and what is told about it in the end."""

from __future__ import annotations

import hashlib
import shlex
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import click
import torch

from medusa_chat.bench.conversation import most_tokens, prompt_of
from medusa_chat.bench.decoders import OwnDecoder
from medusa_chat.bench.differences import part
from medusa_chat.bench.journal import Journal
from medusa_chat.bench.machine import Others
from medusa_chat.bench.peers import Material, Peer
from medusa_chat.bench.runner import measure
from medusa_chat.bench.subject import describe_subject
from medusa_chat.bench.suite import Question
from medusa_chat.bench.timed import Contestant, Sample
from medusa_chat.catalog import find
from medusa_chat.cli.bench_report import report
from medusa_chat.cli.exit_codes import DONE, INTERRUPTED
from medusa_chat.cli.opening import open_session
from medusa_chat.cli.progress import Loading, countdown
from medusa_chat.cli.quiet import warn_of
from medusa_chat.engine.options import Decoding, as_dict
from medusa_chat.host.session import Session
from medusa_chat.settings.machine import cpu_model


@dataclass(slots=True)
class _Cast:
    """Who answers."""

    session: Session
    decodings: list[Decoding]
    """Of our own decoders."""
    contestants: list[Contestant]
    about: dict[str, Any]
    """What each peer says about itself."""


def run(
    suite: Path, questions: Sequence[Question], contenders: Sequence[Decoding], max_tokens: int, flags: dict[str, Any]
) -> int:
    """Returns the exit code. What is done when the run is broken off is told all the same.

    Raises:
        MedusaError: the model or a peer cannot be loaded, or a file cannot be read or written.
    """
    others = Others()
    with ExitStack() as processes:
        cast = _load(flags, contenders, processes)
        warn_of(others, "while loading")
        asked = _fitting(cast.session, questions, max_tokens)
        settings = _settings(cast, flags)
        settings["skipped"] = sorted({question.id for question in questions} - {question.id for question in asked})
        journal = _journal(suite, settings, flags["file"])
        samples = _done(journal, asked) if flags["resume"] else []
        settings["resumed"] = len({sample.question for sample in samples})
        others = Others()
        try:
            _fill(samples, journal, cast, asked, max_tokens, anew=not flags["resume"])
            settings["interrupted"] = False
        except KeyboardInterrupt:
            return INTERRUPTED
        finally:
            settings.setdefault("interrupted", True)
            if samples:
                warn_of(others, "during the run")
                report(suite, settings, _in_order(samples, asked), others.share(), flags["file"], flags["svg"])
    return DONE


def _load(flags: dict[str, Any], contenders: Sequence[Decoding], processes: ExitStack) -> _Cast:
    with Loading() as loading:
        session = open_session(flags, loading)
        decodings = [one for one in contenders if _possible(one, session) or not flags["decoders_by_default"]]
        cast = _Cast(session, decodings, [OwnDecoder(session, decoding) for decoding in decodings], {})
        for name in dict.fromkeys(flags["peers"]):
            loading(f"starting the peer {name}", None)
            peer = processes.enter_context(_peer(name, flags, session))
            cast.about[name] = peer.about
            cast.contestants.append(peer)
    return cast


def _possible(decoding: Decoding, session: Session) -> bool:
    return decoding.decoder != "medusa" or session.heads is not None


def _peer(name: str, flags: dict[str, Any], session: Session) -> Peer:
    card = find(flags["model"])
    material = Material(card.folder(), flags["gguf"], card.heads_folder())
    return Peer(name, material, torch.get_num_threads(), session.backbone.eos_ids)


def _fitting(session: Session, questions: Sequence[Question], max_tokens: int) -> list[Question]:
    """Those that leave no room for `max_tokens` an answer are named and left out."""
    asked = []
    for question in questions:
        most = most_tokens(session, question, max_tokens)
        if most > session.backbone.context:
            click.echo(
                f"question {question.id} is left out: with {max_tokens} tokens an answer it takes {most}, more than "
                f"the {session.backbone.context} the model holds",
                err=True,
            )
        else:
            asked.append(question)
    return asked


def _settings(cast: _Cast, flags: dict[str, Any]) -> dict[str, Any]:
    chosen = ("max_tokens", "select", "categories", "limit", "multi_turn")
    return {
        **{name: flags[name] for name in chosen},
        **describe_subject(cast.session),
        "temperature": 0.0,
        "decoding": {decoding.decoder: as_dict(decoding) for decoding in cast.decodings},
        "peers": cast.about,
        "command": shlex.join(["medusa-chat", *sys.argv[1:]]),
        "started": datetime.now().astimezone().isoformat(timespec="seconds"),
    }


def _journal(suite: Path, settings: dict[str, Any], file: Path | None) -> Journal | None:
    """None where nothing is to be kept. Which questions are chosen may change between two parts of a run."""
    if file is None:
        return None
    alike = ("fingerprint", "quantize", "precision", "forward", "max_tokens", "multi_turn", "decoding", "peers")
    suite_hash = hashlib.sha256(suite.read_bytes()).hexdigest()
    conditions = {"suite": suite_hash, "processor": cpu_model(), **{name: settings[name] for name in alike}}
    return Journal.beside(file, conditions)


def _done(journal: Journal | None, asked: Sequence[Question]) -> list[Sample]:
    wanted = {question.id for question in asked}
    read = () if journal is None else journal.read()
    return [sample for turns in read for sample in turns if sample.question in wanted]


def _fill(
    samples: list[Sample],
    journal: Journal | None,
    cast: _Cast,
    asked: Sequence[Question],
    max_tokens: int,
    *,
    anew: bool,
) -> None:
    """Adds the samples of each question that has none, so that those done stay when the run is broken off."""
    if journal is not None and anew:
        journal.begin()
    answered = {sample.question for sample in samples}
    left = [question for question in asked if question.id not in answered]
    run = measure(cast.contestants, left, max_tokens, partial(prompt_of, cast.session), partial(part, cast.session))
    for turns in countdown(run, len(left), "questions"):
        samples.extend(turns)
        if journal is not None:
            journal.add(turns)


def _in_order(samples: Sequence[Sample], asked: Sequence[Question]) -> list[Sample]:
    place = {question.id: index for index, question in enumerate(asked)}
    return sorted(samples, key=lambda sample: (place[sample.question], sample.turn))
