"""Turns as they are kept on disk, and kept messages as turns again. Plain values both ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from medusa_chat.chats.records import Message, State
from medusa_chat.chats.scribe import Ending
from medusa_chat.chats.trace import Rejected, TraceStep
from medusa_chat.engine.options import as_dict
from medusa_chat.engine.statistics import Tally
from medusa_chat.host.messages import Loaded, StepRecord
from medusa_chat.tui.knobs import Choices
from medusa_chat.tui.turn import ENDINGS, Kept, Turn

_UNFINISHED = "This answer was not finished: the program ended first."


def trace_step(record: StepRecord) -> TraceStep:
    tree = record.tree
    return TraceStep(
        nodes=tuple(zip(tree.tokens, tree.texts, strict=True)),
        parents=tree.parents,
        scores=tree.scores,
        sources=tree.sources,
        path=record.path,
        kept=record.tokens,
        text=record.text,
        ms=(record.draft_ms, record.verify_ms, record.accept_ms, record.commit_ms, record.text_ms),
        plain_ms=record.plain_ms,
        rejected=tuple(Rejected(each.node, each.probability, each.needed, each.entropy) for each in record.reasons),
    )


def settings_of(choices: Choices, loaded: Loaded | None) -> dict[str, Any]:
    """What an answer is made with."""
    model = {} if loaded is None else {"model": loaded.model, "precision": loaded.precision, "device": loaded.device}
    return {**model, "sampling": as_dict(choices.sampling), "decoding": as_dict(choices.decoding)}


def ending_of(turn: Turn, settings: dict[str, Any], steps: Sequence[TraceStep]) -> Ending:
    """Of a turn that has ended; one without an ending of its own was left while it ran."""
    state: State = "finished"
    if turn.failure is not None:
        state = "failed"
    elif turn.reason in (None, "cancelled"):
        state = "stopped"
    tally = turn.tally
    statistics: dict[str, Any] = {
        "tokens": tally.tokens,
        "steps": tally.steps,
        "ms": round(tally.ms, 3),
        "plain_ms": tally.plain_ms,
        "lengths": {str(length): count for length, count in tally.lengths.items()},
        "reason": turn.reason,
        "failure": turn.failure,
    }
    if turn.statistics is not None:
        statistics["prompt_tokens"] = turn.statistics.prompt_tokens
        statistics["prefill_seconds"] = turn.statistics.prefill_seconds
    return Ending(state, settings, statistics, steps)


def turns_of(branch: Sequence[Message]) -> list[Turn]:
    """Each question with the answer below it, if there is one."""
    turns: list[Turn] = []
    question: Message | None = None
    for message in branch:
        if message.role == "assistant":
            turns.append(_past(question, message))
            question = None
            continue
        if question is not None:
            turns.append(_unanswered(question))
        question = message
    return turns if question is None else [*turns, _unanswered(question)]


def _unanswered(question: Message) -> Turn:
    return Turn.past(question.content, "", Tally(), "cancelled", None, Kept(question.id))


def _past(question: Message | None, answer: Message) -> Turn:
    kept = answer.statistics or {}
    reason = next((known for known in ENDINGS if known == kept.get("reason")), None)
    failure = kept.get("failure")
    if answer.state == "unfinished":
        failure = _UNFINISHED
    elif reason is None and failure is None:
        reason = "cancelled" if answer.state == "stopped" else "eos"
    place = Kept(None if question is None else question.id, answer.id)
    return Turn.past("" if question is None else question.content, answer.content, _tally(kept), reason, failure, place)


def _tally(kept: dict[str, Any]) -> Tally:
    """An imported file may say anything here: what does not fit is as if not measured."""
    try:
        plain_ms = kept.get("plain_ms")
        return Tally(
            plain_ms=None if plain_ms is None else float(plain_ms),
            tokens=int(kept.get("tokens", 0)),
            steps=int(kept.get("steps", 0)),
            ms=float(kept.get("ms", 0.0)),
            lengths={int(length): int(count) for length, count in kept.get("lengths", {}).items()},
        )
    except (TypeError, ValueError, AttributeError, OverflowError):
        return Tally()
