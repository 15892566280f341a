"""A session as the service wants it: steps become records with texts. Imports torch and transformers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch
from transformers import PreTrainedTokenizerBase

from medusa_chat.engine.logit_gap import logit_gap
from medusa_chat.engine.options import Decoding, Sampling
from medusa_chat.engine.text.token_text import piece
from medusa_chat.host.comparison import Comparison
from medusa_chat.host.messages import Compare, Generate, Load, Loaded, Parting, StepRecord
from medusa_chat.host.partings import Difference
from medusa_chat.host.records import step_record
from medusa_chat.host.seam import OnProgress
from medusa_chat.host.session import Answer, Session


def open_served(load: Load, on_progress: OnProgress) -> RecordedSession:
    """Raises MedusaError as `Session.open` does."""
    return RecordedSession(Session.open(load.model, quantize=load.quantize, on_progress=on_progress))


class RecordedSession:
    """Implements `seam.ServedSession`."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def loaded(self) -> Loaded:
        session = self._session
        return Loaded(
            model=session.model,
            heads=session.heads.count if session.heads is not None else 0,
            device=_device_name(session.backbone.device),
            precision=session.backbone.weight_type,
            context=session.backbone.context,
            budget=session.budget,
            plain_ms=session.plain_ms,
            notes=session.notes,
        )

    def answer(self, request: Generate, on_progress: Callable[[int, int], None]) -> RecordedAnswer:
        answer = self._session.start(
            self._prompt_ids(request),
            request.sampling,
            request.decoding,
            request.limits,
            on_progress,
            probe=True,
            explain=True,
        )
        return RecordedAnswer(self._session, answer)

    def compare(self, request: Compare, on_progress: Callable[[int, int], None]) -> RecordedComparison:
        lanes = [lane.decoding for lane in request.lanes]
        comparison = Comparison(
            self._session, self._prompt_ids(request), lanes, request.sampling, request.limits, on_progress
        )
        return RecordedComparison(self._session.tokenizer, comparison)

    def _prompt_ids(self, request: Generate | Compare) -> list[int]:
        return self._session.prompt_ids(
            [{"role": message.role, "content": message.content} for message in request.messages]
        )


class RecordedAnswer:
    """Implements `seam.ServedAnswer`."""

    def __init__(self, session: Session, answer: Answer) -> None:
        self._tokenizer = session.tokenizer
        self._answer = answer

    @property
    def prompt_tokens(self) -> int:
        return self._answer.prompt_tokens

    @property
    def prefill_seconds(self) -> float:
        return self._answer.prefill_seconds

    def __iter__(self) -> Iterator[StepRecord]:
        return (step_record(step, self._tokenizer) for step in self._answer)

    def adjust(self, decoding: Decoding, sampling: Sampling | None) -> None:
        self._answer.adjust(decoding, sampling)

    def cancel(self) -> str:
        return self._answer.cancel()


class RecordedComparison:
    """Implements `seam.ServedComparison`."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase, comparison: Comparison) -> None:
        self._tokenizer = tokenizer
        self._comparison = comparison

    @property
    def prompt_tokens(self) -> int:
        return self._comparison.prompt_tokens

    @property
    def prefill_seconds(self) -> float:
        return self._comparison.prefill_seconds

    def __iter__(self) -> Iterator[tuple[int, StepRecord]]:
        return ((lane, step_record(step, self._tokenizer)) for lane, step in self._comparison)

    def cancel(self, lane: int) -> str:
        return self._comparison.cancel(lane)

    def parting(self, before: Sequence[int], difference: Difference) -> Parting:
        one, other = difference.tokens
        left, right = ("" if token is None else piece(self._tokenizer, token) for token in difference.tokens)
        gap = None
        if one is not None and other is not None:
            ids = [*self._comparison.prompt_ids, *before]
            gap = abs(logit_gap(self._comparison.first.backbone, ids, one, other))
        return Parting(difference.index, difference.tokens, (left, right), gap)


def _device_name(device: torch.device) -> str:
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    threads = torch.get_num_threads()
    return f"{device.type}, {threads} thread{'s' if threads > 1 else ''}"
