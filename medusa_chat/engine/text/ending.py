"""Where an answer ends, and which of its text may be shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from medusa_chat.engine.options import Limits, Reason


class IncrementalText(Protocol):
    """What `Ending` needs of a detokenizer; `engine.text.detokenizer.Detokenizer` is the real one."""

    def push(self, token_id: int) -> str: ...

    def flush(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of one step's new tokens."""

    tokens: tuple[int, ...]
    """The tokens that belong to the answer: cut behind the one that ended it, which is kept and counted."""
    text: str
    """What became showable: never the end token, a stop string, or the possible beginning of one."""
    finish: Reason | None


class Ending:
    """Ends one answer at the model's end token, a stop string or `limits.max_tokens`, whichever token meets one first.

    A token that is several of these at once counts as the first that applies in the order end token, stop string,
    length. Without a detokenizer there is no text, hence no stop string to find.
    """

    def __init__(self, limits: Limits, eos_ids: frozenset[int], detokenizer: IncrementalText | None = None) -> None:
        self._max_tokens = limits.max_tokens
        self._stop = limits.stop
        self._eos_ids = eos_ids
        self._detokenizer = detokenizer
        self._count = 0
        self._held = ""
        self._closed = False

    def take(self, tokens: Sequence[int]) -> Taken:
        """Take a step's new tokens, in order; not to be called again once `finish` was set.

        Raises:
            ValueError: the answer has already ended.
        """
        if self._closed:
            raise ValueError("the answer has already ended")
        text = ""
        for position, token in enumerate(tokens, start=1):
            piece, finish = self._take_one(token)
            text += piece
            if finish is not None:
                return Taken(tuple(tokens[:position]), text + self.close(), finish)
        return Taken(tuple(tokens), text, None)

    def close(self) -> str:
        """End the answer and return the text still held back ("" when it has ended before)."""
        if self._closed:
            return ""
        self._closed = True
        rest = self._detokenizer.flush() if self._detokenizer is not None else ""
        text, _ = self._release(rest)
        text += self._held
        self._held = ""
        return text

    def _take_one(self, token: int) -> tuple[str, Reason | None]:
        self._count += 1
        if token in self._eos_ids:
            return "", "eos"
        text = ""
        if self._detokenizer is not None:
            text, stopped = self._release(self._detokenizer.push(token))
            if stopped:
                # What a half character behind the stop string would still yield is no part of the answer.
                self._closed = True
                return text, "stop"
        return text, "length" if self._count == self._max_tokens else None

    def _release(self, piece: str) -> tuple[str, bool]:
        """Add new text to what is held; return what may be shown now and whether a stop string was found."""
        text = self._held + piece
        found = [start for start in (text.find(stop) for stop in self._stop) if start >= 0]
        if found:
            self._held = ""
            return text[: min(found)], True
        keep = max((_overlap(text, stop) for stop in self._stop), default=0)
        shown = len(text) - keep
        self._held = text[shown:]
        return text[:shown], False


def _overlap(text: str, stop: str) -> int:
    """Length of the longest end of `text` that begins `stop` without completing it."""
    for length in range(min(len(text), len(stop) - 1), 0, -1):
        if text.endswith(stop[:length]):
            return length
    return 0
