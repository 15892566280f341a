"""How long the first token of each turn takes in one growing conversation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from medusa_chat.bench.conversation import most_tokens, prompt_of
from medusa_chat.bench.decoders import OwnDecoder
from medusa_chat.bench.suite import Question
from medusa_chat.engine.decode import common_prefix
from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.options import Decoding
from medusa_chat.host.session import Session

TEXT = "Tell me one more thing about the sea, please, and say why sailors should know it."
"""What the user says in every turn: as much new text each time."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Of one conversation."""

    turn: int
    """Counts from 1."""
    prompt_tokens: int
    read_tokens: int
    """Of the prompt: those that were not in the cache from the turn before."""
    first_token_seconds: float


@dataclass(frozen=True, slots=True)
class TurnFigures:
    """Medians over some conversations."""

    turn: int
    prompt_tokens: float
    read_tokens: float
    first_token_seconds: float


def converse(session: Session, decoding: Decoding, turns: int, max_tokens: int) -> Iterator[Turn]:
    """One conversation, its cache kept from turn to turn as in a chat.

    Raises:
        MedusaError: the model's context cannot hold it.
    """
    question = Question(0, "", (TEXT,) * turns)
    most = most_tokens(session, question, max_tokens)
    if most > session.backbone.context:
        raise MedusaError(
            f"{turns} turns of {max_tokens} tokens an answer make {most} tokens, but the model's context holds "
            f"{session.backbone.context}; ask for fewer --turns or --tokens."
        )
    decoder, said = OwnDecoder(session, decoding), list[tuple[int, ...]]()
    for turn in range(1, turns + 1):
        prompt = prompt_of(session, question, said)
        kept = common_prefix(prompt[:-1], session.backbone.ids) if said else 0
        answer = decoder.answer(prompt, max_tokens)
        said.append(answer.tokens)
        yield Turn(turn, len(prompt), len(prompt) - 1 - kept, answer.first_token)


def turn_figures(conversations: Sequence[Sequence[Turn]]) -> list[TurnFigures]:
    """One for each turn."""
    return [
        TurnFigures(
            same[0].turn,
            median(turn.prompt_tokens for turn in same),
            median(turn.read_tokens for turn in same),
            median(turn.first_token_seconds for turn in same),
        )
        for same in zip(*conversations, strict=True)
    ]


def growth(figures: Sequence[TurnFigures]) -> float | None:
    """The last turn's first token over the second's, which reads as much new text; None where there is no third."""
    return figures[-1].first_token_seconds / figures[1].first_token_seconds if len(figures) > 2 else None
