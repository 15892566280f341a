"""Turns as they are kept on disk. Plain values."""

from __future__ import annotations

from typing import Any

from medusa_chat.chats.columns import Columns
from medusa_chat.chats.entries import Ending
from medusa_chat.chats.records import State
from medusa_chat.chats.trace import Believed, Rejected, TraceStep
from medusa_chat.engine.options import Decoding, Limits, Sampling, as_dict
from medusa_chat.host.messages import BeliefRecord, Loaded, RejectionRecord, StepRecord, TreeRecord
from medusa_chat.tui.choices import Choices
from medusa_chat.tui.turn import Turn


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
        beliefs=None
        if (held := record.beliefs) is None
        else Believed(held.probabilities, held.entropies, held.favourites, held.certainties),
    )


def record_of(step: TraceStep, index: int) -> StepRecord:
    """A kept step as it was when it happened, so that screens draw both alike; why the answer ended is not kept with
    its last step.

    Args:
        index: counts from 1.
    """
    tokens, texts = zip(*step.nodes, strict=True)
    draft, verify, accept, commit, text = step.ms
    return StepRecord(
        index=index,
        tree=TreeRecord(tokens, step.parents, step.scores, texts, step.sources),
        path=step.path,
        tokens=step.kept,
        text=step.text,
        draft_ms=draft,
        verify_ms=verify,
        accept_ms=accept,
        commit_ms=commit,
        text_ms=text,
        reasons=tuple(
            RejectionRecord(each.node, each.probability, each.needed, each.entropy) for each in step.rejected
        ),
        plain_ms=step.plain_ms,
        beliefs=None
        if (held := step.beliefs) is None
        else BeliefRecord(held.probabilities, held.entropies, held.favourites, held.certainties),
    )


def settings_of(choices: Choices, loaded: Loaded | None) -> dict[str, Any]:
    """What an answer is made with."""
    parts: dict[str, Sampling | Decoding | Limits] = {
        "sampling": choices.sampling,
        "decoding": choices.decoding,
        "limits": choices.limits,
    }
    model = {} if loaded is None else {"model": loaded.model, "precision": loaded.precision, "device": loaded.device}
    return {**model, **{part: as_dict(options) for part, options in parts.items()}}


def ending_of(turn: Turn, settings: dict[str, Any], trace: Columns) -> Ending:
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
        "tested": turn.tested,
        "first_token_seconds": turn.first_token,
    }
    if turn.statistics is not None:
        statistics["prompt_tokens"] = turn.statistics.prompt_tokens
        statistics["prefill_seconds"] = turn.statistics.prefill_seconds
    return Ending(state, settings, statistics, trace)
