"""How each token of an answer was won, from the answer's step trace."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from medusa_chat.chats.trace import TraceStep
from medusa_chat.tui.alignment import Alignment

ROOT = "root"
"""Tokens of the backbone's own: the last of each step, the root of the next one."""

_HEAD = re.compile(r"head (\d+)")
MOST_HEADS = 5
"""Further heads share the mark of this one."""


class WonTokens:
    """Every token of an answer in order, with who won it. Grows by a step at a time."""

    def __init__(self) -> None:
        self.sources: list[str] = []
        """One a token: "root", "head 1", ..., "lookup", "recycle", as the trace has it."""
        self._alignment = Alignment()

    @property
    def parts(self) -> list[tuple[int, str]]:
        """(number of the token, its text) in the order of the text; joined they are the answer's text. See
        `Alignment.parts`."""
        return self._alignment.parts

    def add(self, step: TraceStep) -> None:
        """Nodes behind the root on the path were guessed by their source; the last token the backbone added."""
        won = step.path[1 : len(step.kept)]
        self.sources += [step.sources[node] for node in won]
        self.sources += [ROOT] * (len(step.kept) - len(won))
        texts = [text for _, text in step.nodes]
        self._alignment.add(texts[0] if texts else "", [texts[node] for node in won], step.text)

    def end(self, rest: str) -> None:
        """`rest` is the answer's text beyond that of the last step."""
        self._alignment.end(rest)

    def texts(self) -> list[str]:
        """One a token; "" for those without text."""
        texts = [""] * len(self.sources)
        for token, text in self.parts:
            texts[token] += text
        return texts

    def counts(self) -> list[tuple[str, int]]:
        """(kind, tokens of that kind), as `kind_of` names them; those that won nothing are left out."""
        counted = Counter(map(kind_of, self.sources))
        return [(kind, counted[kind]) for kind in kinds() if counted[kind]]


def kinds() -> Iterator[str]:
    """Everything that has a mark of its own, in the order of the legend."""
    yield ROOT
    yield from (f"head {number}" for number in range(1, MOST_HEADS))
    yield f"head {MOST_HEADS}+"
    yield from ("lookup", "recycle", "other")


def kind_of(source: str) -> str:
    """Which mark a source has; one nobody knows is "other"."""
    if source in (ROOT, "lookup", "recycle"):
        return source
    if head := _HEAD.fullmatch(source):
        number = int(head[1])
        return f"head {number}" if number < MOST_HEADS else f"head {MOST_HEADS}+"
    return "other"
