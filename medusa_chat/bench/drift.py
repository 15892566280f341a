"""What a precision does to the model's words: both read the same recorded answers, token by token."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import exp

import torch
from torch import Tensor

from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.decode import read_prompt
from medusa_chat.engine.tree import CandidateTree
from medusa_chat.training.conversations import Conversation, Span

_ROWS = 64
"""Of a pass; more would hold many rows of logits at once."""


@dataclass(frozen=True, slots=True)
class Drift:
    """Of one precision against the reference, over all tokens of some answers."""

    tokens: int
    kl: float
    """Mean KL(reference || precision), in nats a token."""
    kl_p99: float
    """The value 99 of 100 tokens stay under."""
    perplexity: float
    """Of the answers, in this precision."""
    reference_perplexity: float
    agreement: float
    """Share of tokens where both find the same one the likeliest."""


def drift(
    reference: Backbone,
    other: Backbone,
    conversations: Sequence[Conversation],
    on_progress: Callable[[int, int], None] | None = None,
) -> Drift:
    """Both read prompts and answers as given (teacher forcing), so what one would say does not lead it away.

    Answers longer than the context are read as far as it goes.
    """
    kl, likelihood, reference_likelihood, same = [], [], [], []
    for done, conversation in enumerate(conversations, start=1):
        for span in conversation.answers:
            said = iter(conversation.ids[slice(*span)])
            readings = (_readings(one, conversation, span) for one in (reference, other))
            for left, right in zip(*readings, strict=True):
                tokens = torch.tensor([next(said) for _ in range(len(left))])[:, None]
                kl.append(_kl(left, right))
                reference_likelihood.append(left.gather(1, tokens)[:, 0])
                likelihood.append(right.gather(1, tokens)[:, 0])
                same.append(left.argmax(dim=1) == right.argmax(dim=1))
        if on_progress is not None:
            on_progress(done, len(conversations))
    divergences = torch.cat(kl)
    return Drift(
        tokens=len(divergences),
        kl=float(divergences.mean()),
        kl_p99=float(divergences.quantile(0.99)),
        perplexity=_perplexity(likelihood),
        reference_perplexity=_perplexity(reference_likelihood),
        agreement=float(torch.cat(same).double().mean()),
    )


def _readings(backbone: Backbone, conversation: Conversation, span: Span) -> Iterator[Tensor]:
    """Chunk by chunk [rows, vocab_size] float64 log-probabilities of each token of an answer, on the CPU."""
    start, end = span
    if start > backbone.context:
        return
    if start == conversation.answers[0][0]:
        backbone.rewind(0)
    read_prompt(backbone, conversation.ids[:start])
    rows = list(conversation.ids[start - 1 : end - 1])[: backbone.room]
    for start in range(0, len(rows), _ROWS):
        chunk = rows[start : start + _ROWS]
        readout = backbone.verify(CandidateTree.build(chunk, range(-1, len(chunk) - 1), [1.0] * len(chunk)))
        backbone.commit(range(len(chunk)))
        yield readout.logits.cpu().double().log_softmax(dim=1)


def _kl(reference: Tensor, other: Tensor) -> Tensor:
    """[rows] in nats; rounding may leave a hair below 0."""
    return (reference.exp() * (reference - other)).sum(dim=1).clamp(min=0.0)


def _perplexity(likelihood: Sequence[Tensor]) -> float:
    return exp(-float(torch.cat(list(likelihood)).mean()))
