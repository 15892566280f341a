"""What a contestant is asked next, given what it has answered itself."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from medusa_chat.bench.suite import Question

if TYPE_CHECKING:
    from medusa_chat.host.session import Session


def prompt_of(session: Session, question: Question, said: Sequence[Sequence[int]]) -> list[int]:
    """Token ids of the conversation up to the turn after the last of the answers `said` (token ids, one a turn).

    Answers go round as text, as they do in a chat: what the template makes of them is the same for every contestant.
    """
    texts = [str(session.tokenizer.decode(list(tokens), skip_special_tokens=True)) for tokens in said]
    return session.prompt_ids(_messages(question.turns[: len(said) + 1], texts))


def most_tokens(session: Session, question: Question, max_tokens: int) -> int:
    """How long the conversation may get, all its answers having `max_tokens`."""
    silence = ["…"] * (len(question.turns) - 1)
    return len(session.prompt_ids(_messages(question.turns, silence))) + len(question.turns) * max_tokens


def _messages(turns: Sequence[str], answers: Sequence[str]) -> list[dict[str, str]]:
    messages = []
    for turn, answer in zip_longest(turns, answers):
        messages.append({"role": "user", "content": turn})
        if answer is not None:
            messages.append({"role": "assistant", "content": answer})
    return messages
