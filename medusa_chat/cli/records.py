"""The JSON objects `--json` prints: names are stable, more may be added."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from medusa_chat.engine.options import Decoding, Reason
from medusa_chat.engine.statistics import Tally
from medusa_chat.engine.step import Step


@dataclass(slots=True)
class Told:
    """An answer as it grew, and how it ended."""

    decoding: Decoding
    prompt_tokens: int
    tally: Tally
    text: str = ""
    tokens: list[int] = field(default_factory=list)
    reason: Reason = "cancelled"
    """Stays so when no step says why the answer ended."""

    @property
    def decoder(self) -> str:
        return self.decoding.decoder

    @property
    def cut(self) -> bool:
        """Stopped before it came to its end."""
        return self.reason == "cancelled"

    @property
    def lossy(self) -> bool:
        """Plain decoding drafts nothing a rule could let pass."""
        return self.decoding.lossy and self.decoder != "plain"

    @property
    def label(self) -> str:
        """The decoder, and a word of warning where its rule changes what is said."""
        return f"{self.decoder}, lossy" if self.lossy else self.decoder

    def add(self, step: Step) -> None:
        self.text += step.text
        self.tokens.extend(step.tokens)
        self.tally.add(len(step.tokens), step.ms.total, step.plain_ms)
        if self.decoder == "plain":
            # Its own steps are the better measure: they grow with the conversation as those after loading do not.
            self.tally.plain_ms = self.tally.step_ms
        if step.finish is not None:
            self.reason = step.finish


def step_event(step: Step) -> dict[str, Any]:
    return {
        "event": "step",
        "step": step.index,
        "tokens": list(step.tokens),
        "text": step.text,
        "tree": {
            "tokens": step.tree.token_ids,
            "parents": step.tree.parent_nodes,
            "scores": [round(score, 6) for score in step.tree.probabilities],
            "sources": step.tree.sources,
        },
        "path": list(step.path),
        "ms": {
            "draft": round(step.ms.draft, 4),
            "verify": round(step.ms.verify, 4),
            "accept": round(step.ms.accept, 4),
            "text": round(step.ms.text, 4),
            "commit": round(step.ms.commit, 4),
        },
    }


def done_event(told: Told, **more: Any) -> dict[str, Any]:
    """`seconds` is decoding alone, without reading the prompt."""
    tally = told.tally
    return {
        "event": "done",
        "decoder": told.decoder,
        "rule": told.decoding.rule,
        "lossy": told.lossy,
        "reason": told.reason,
        "text": told.text,
        "tokens": told.tokens,
        "prompt_tokens": told.prompt_tokens,
        "seconds": _rounded(tally.ms / 1000.0),
        "tokens_per_second": _rounded(tally.tokens_per_second),
        "steps": tally.steps,
        "acceleration_rate": _rounded(tally.acceleration_rate),
        "overhead": _rounded(tally.overhead),
        "speedup": _rounded(tally.speedup),
        **more,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
