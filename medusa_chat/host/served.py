"""A session as the service wants it: steps become records with texts. Imports torch and transformers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch

from medusa_chat.engine.options import Decoding, Sampling
from medusa_chat.host.messages import Generate, Load, Loaded, StepRecord
from medusa_chat.host.records import step_record
from medusa_chat.host.serving import OnProgress
from medusa_chat.host.session import Answer, Session


def open_served(load: Load, on_progress: OnProgress) -> RecordedSession:
    """Raises MedusaError as `Session.open` does."""
    return RecordedSession(Session.open(load.model, quantize=load.quantize, on_progress=on_progress))


class RecordedSession:
    """Implements `serving.ServedSession`."""

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
        messages = [{"role": message.role, "content": message.content} for message in request.messages]
        prompt_ids = self._session.prompt_ids(messages)
        answer = self._session.start(
            prompt_ids, request.sampling, request.decoding, request.limits, on_progress, probe=True, explain=True
        )
        return RecordedAnswer(self._session, answer)


class RecordedAnswer:
    """Implements `serving.ServedAnswer`."""

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


def _device_name(device: torch.device) -> str:
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    threads = torch.get_num_threads()
    return f"{device.type}, {threads} thread{'s' if threads > 1 else ''}"
