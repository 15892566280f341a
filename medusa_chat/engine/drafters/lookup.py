"""Prompt lookup: what followed earlier in the conversation, where the same tokens stood.

The idea is prompt lookup decoding (apoorvumang/prompt-lookup-decoding, 2023); here every suffix is found, not only those
of a few lengths, several continuations are offered, and each with its probability.
"""

from __future__ import annotations

from collections.abc import Sequence

from medusa_chat.engine.drafters.rates import Rates
from medusa_chat.engine.drafters.suffix_automaton import Continuation, Match, SuffixAutomaton

MOST = 3
"""Continuations offered at one place."""

_CLASSES = (0, 0, 1, 2, 3, *[4] * 3, *[5] * 8, *[6] * 16)
"""Match length -> class: 1, 2, 3, 4, 5-7, 8-15, 16-31; class 7: 32 and more."""

# Probability that a continuation comes next, by class of match length (columns). Measured on 1,950 greedy answers of the
# default model (237,000 places with a match: chat, arithmetic, code, short tasks; the last three columns apart on 98 of
# them), over every place of an answer, whether a step begins there or not. At a node deeper in a tree the match is longer
# by the tokens on the way, and its length says most of what there is to say: three tokens go on as before 0.58 of the time
# where the token before was a miss, 0.62 and 0.64 after one and two hits.
_FIRST = (
    (0.19, 0.47, 0.57, 0.64, 0.73, 0.86, 0.93, 0.99),
    (0.42, 0.70, 0.75, 0.79, 0.86, 0.94, 0.95, 0.99),
    (0.63, 0.85, 0.89, 0.92, 0.96, 0.98, 0.99, 0.99),
)
"""The first offer (latest occurrence of the longest suffix); rows: it followed the latest 1, 2, 3 or more occurrences."""
_LATER = (
    (0.09, 0.11, 0.11, 0.11, 0.10, 0.10, 0.10, 0.10),
    (0.04, 0.10, 0.13, 0.14, 0.14, 0.18, 0.20, 0.20),
    (0.14, 0.30, 0.35, 0.40, 0.45, 0.60, 0.60, 0.60),
)
"""Further offers; rows: another token has followed since, this one followed the latest 1, 2 or more occurrences."""
_STRENGTH = 20.0
"""Best of 3, 8, 20, 50 by the log loss of all offers (98 held-out answers)."""


class Lookup:
    """One per conversation: the automaton grows with it, the probabilities follow what its answers repeat."""

    def __init__(self) -> None:
        self._text = SuffixAutomaton()
        self._ids: list[int] = []
        self._rates = Rates([mean for rows in (_FIRST, _LATER) for row in rows for mean in row], _STRENGTH)

    def resume(self, ids: Sequence[int]) -> bool:
        """A new answer begins behind `ids`. True where they go on from what was read: then nothing is read twice, and what
        is new, a person's words, is only remembered. False for another conversation, which needs a lookup of its own."""
        if list(ids[: len(self._ids)]) != self._ids:
            return False
        self._append(ids[len(self._ids) :])
        return True

    def read(self, ids: Sequence[int]) -> None:
        """The conversation as it stands now, grown since the last call.

        What is there at the first call is only remembered. Every token after that is held against what would have been
        offered in its place, whoever drafted it, or nobody: a plain step teaches as much as a tree.
        """
        text = self._text
        if not self._ids:
            self._append(ids)
        for token in ids[len(self._ids) :]:
            for rank, offer in enumerate(text.continuations(text.end(), MOST)):
                self._rates.learn(_kind(rank, offer), offer[0] == token)
            self._append([token])

    def _append(self, tokens: Sequence[int]) -> None:
        self._ids.extend(tokens)
        for token in tokens:
            self._text.append(token)

    def begin(self) -> Match:
        """Where the conversation ends."""
        return self._text.end()

    def follow(self, match: Match, token: int) -> Match:
        return self._text.follow(match, token)

    def offers(self, match: Match) -> list[tuple[int, float]]:
        """Up to `MOST` tokens with their probabilities, in the order explained at `SuffixAutomaton.continuations`."""
        means = self._rates.means
        found = self._text.continuations(match, MOST)
        return [(offer[0], means[_kind(rank, offer)]) for rank, offer in enumerate(found)]


def _kind(rank: int, offer: Continuation) -> int:
    _, length, held = offer
    column = _CLASSES[length] if length < 32 else 7
    if rank:
        return 24 + 8 * (held if held < 2 else 2) + column
    return 8 * ((held if held < 3 else 3) - 1) + column
