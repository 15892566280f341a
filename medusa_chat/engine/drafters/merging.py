"""What may follow a node when several drafters have a say: one probability a token."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import TypeAlias

from medusa_chat.engine.drafters.lookup import Lookup
from medusa_chat.engine.drafters.recycling import Recycling
from medusa_chat.engine.drafters.search import Offer, Stream
from medusa_chat.engine.drafters.suffix_automaton import Match

# Measured on 98 held-out greedy answers of the default model with its heads (11,000 places for head 1, 4,000 for head 4),
# by fitting odds(right) = SILENT * odds(other) + AGREED * odds(head) for tokens that lookup offers. Against "not both are
# wrong", 1 - (1 - p)(1 - q), this takes 8 % off the log loss for head 1 and 6 or 7 % for the others: drafters that agree
# know more than independent ones would, and a head that does not name a token says something, too.
SILENT = 0.45
"""What is left of the other's odds where the head of this depth is believed."""
AGREED = 5.0
"""Worth of the head's odds when it names the token that the other offers first (4 for head 1, 6 to 10 for later heads;
with recycling 2, and 8 to 12); 1 for further offers."""
ASTRAY = 0.4
"""What is left of a head's probabilities below a token that the heads before it did not name: heads guess from the root
alone, so theirs is another continuation. The other's odds count in full there."""
SECOND = 0.25
"""What is left of a recycled token's probability where lookup offers other tokens."""
CERTAIN = 0.99
"""Odds of more are not told apart."""

Way: TypeAlias = tuple[Match, bool]
"""What the text so far and the path to a node match earlier; whether heads named every token of the path."""


_PROBABILITY = itemgetter(1)


class Ways:
    """The `Guide` of one step. Equal tokens from several drafters become one node, named after the drafter that gave it
    the highest probability; the heads' other tokens share what probability is left.

    Recycling repeats what heads and lookup know better: it is asked where lookup finds nothing, and where no head
    reaches; where a head does reach, it can but agree.
    """

    def __init__(
        self, root: int, heads: Sequence[Sequence[Offer]], lookup: Lookup | None, recycling: Recycling | None
    ) -> None:
        self._root = root
        self._heads = heads
        self._named = [{token: probability for token, probability, _ in offers} for offers in heads]
        self._names = [f"head {head + 1}" for head in range(len(heads))]
        self._lookup = lookup
        self._recycling = recycling

    def begin(self) -> tuple[Way, Sequence[Stream]]:
        match = (0, 0) if self._lookup is None else self._lookup.begin()
        return (match, True), self._after(self._root, 0, match, True)

    def follow(self, state: Way, token: int, depth: int) -> tuple[Way, Sequence[Stream]]:
        match, named = state
        named = named and depth <= len(self._named) and token in self._named[depth - 1]
        if self._lookup is not None:
            match = self._lookup.follow(match, token)
        return (match, named), self._after(token, depth, match, named)

    def _after(self, token: int, depth: int, match: Match, named: bool) -> Sequence[Stream]:
        found = self._lookup.offers(match) if self._lookup is not None and match[1] else []
        if depth >= len(self._heads):
            return self._without_heads(token, found)
        source = "lookup"
        if not found and self._recycling is not None:
            found, source = [(successor, 0.0) for successor, _ in self._recycling.offers(token)[:1]], "recycle"
        trust = 1.0 if named else ASTRAY
        if not found:
            return [(self._heads[depth], trust, ())]
        return self._merged(depth, found, source, named, trust)

    def _merged(
        self, depth: int, found: list[tuple[int, float]], source: str, named: bool, trust: float
    ) -> Sequence[Stream]:
        head = self._named[depth]
        others, agreed = SILENT if named else 1.0, AGREED
        offers: list[Offer] = []
        taken = held = 0.0
        for token, probability in found:
            by_head = head.get(token, 0.0)
            odds = others * _odds(probability) + agreed * _odds(by_head)
            merged = min(odds / (1.0 + odds), 1.0 - taken)
            if merged > 0.0:
                offers.append((token, merged, source if probability >= by_head else self._names[depth]))
            taken += merged
            held += by_head
            agreed = 1.0
        if len(offers) > 1:
            offers.sort(key=_PROBABILITY, reverse=True)
        left = max(0.0, 1.0 - taken) / max(1.0 - CERTAIN, 1.0 - held)
        return [(offers, 1.0, ()), (self._heads[depth], trust * min(1.0, left), [offer[0] for offer in offers])]

    def _without_heads(self, token: int, found: list[tuple[int, float]]) -> Sequence[Stream]:
        offers = [(successor, probability, "lookup") for successor, probability in found]
        if self._recycling is not None:
            share = SECOND if found else 1.0
            known = {successor for successor, _ in found}
            offers += [
                (successor, share * probability, "recycle")
                for successor, probability in self._recycling.offers(token)
                if successor not in known
            ]
        if len(offers) > 1:
            offers.sort(key=_PROBABILITY, reverse=True)
        return [(offers, 1.0, ())]


def _odds(probability: float) -> float:
    return min(probability, CERTAIN) / (1.0 - min(probability, CERTAIN))
