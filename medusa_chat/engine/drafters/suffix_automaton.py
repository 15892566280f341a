"""What followed earlier: a suffix automaton over the conversation, grown token by token."""

from __future__ import annotations

from typing import TypeAlias

NOTED = 32
"""Suffixes (classes of them) that learn from each new token, longest first. Text that repeats one token over and over
has as many classes as tokens; anything else a handful."""


# Plain tuples: drafting makes hundreds of them a step, and named ones take several times as long.
Match: TypeAlias = tuple[int, int]
"""A suffix of a text that occurs in the automaton's own: its state, its length in tokens (0 where nothing matches)."""

Continuation: TypeAlias = tuple[int, int, int]
"""A token that followed earlier occurrences of a suffix: the token, the length of the suffix, how many of its latest
occurrences in a row this token followed (0 where another token has followed since)."""


class SuffixAutomaton:
    """All substrings of a text, in at most two states a token.

    Textbook construction (Blumer et al. 1985): states are classes of substrings that end at the same places, `_links`
    lead from a class to the longest suffix outside it. Every class knows besides which token followed its latest
    occurrence, how often in a row, and which other one before. Appending costs a constant number of dictionary
    operations on average (and `NOTED` notes at most), following a match by one token likewise.
    """

    def __init__(self) -> None:
        self.size = 0
        """Tokens appended so far."""
        self._edges: list[dict[int, int]] = [{}]
        self._links = [-1]
        self._lengths = [0]
        self._latest = [-1]
        self._held = [0]
        self._other = [-1]
        self._last = 0

    def append(self, token: int) -> None:
        """The text goes on with `token`."""
        self._note(token)
        edges, links, lengths = self._edges, self._links, self._lengths
        state = self._state({}, 0, lengths[self._last] + 1)
        at, self._last = self._last, state
        while at >= 0 and token not in edges[at]:
            edges[at][token] = state
            at = links[at]
        if at < 0:
            return
        target = edges[at][token]
        if lengths[target] == lengths[at] + 1:
            links[state] = target
            return
        shorter = self._copy(target, lengths[at] + 1)
        links[target] = links[state] = shorter
        while at >= 0 and edges[at].get(token) == target:
            edges[at][token] = shorter
            at = links[at]

    def end(self) -> Match:
        """The longest suffix of the text that occurs earlier in it, too."""
        state = max(self._links[self._last], 0)
        return state, self._lengths[state]

    def follow(self, match: Match, token: int) -> Match:
        """The longest suffix of (what matched + token) that occurs in the text."""
        state, length = match
        edges = self._edges
        while state and token not in edges[state]:
            state = self._links[state]
            length = self._lengths[state]
        onward = edges[state].get(token)
        return (0, 0) if onward is None else (onward, length + 1)

    def continuations(self, match: Match, most: int) -> list[Continuation]:
        """Up to `most` different tokens that followed earlier occurrences: of the longest suffix first, of each suffix
        the latest first."""
        found: list[Continuation] = []
        tokens: list[int] = []
        state, length = match
        while state > 0:
            token = self._latest[state]
            if token >= 0:
                if token not in tokens:
                    found.append((token, length, self._held[state]))
                    if len(found) == most:
                        break
                    tokens.append(token)
                token = self._other[state]
                if token >= 0 and token not in tokens:
                    found.append((token, length, 0))
                    if len(found) == most:
                        break
                    tokens.append(token)
            state = self._links[state]
            length = self._lengths[state]
        return found

    def _note(self, token: int) -> None:
        """Every suffix of the text up to now is followed by `token`."""
        latest, held, links = self._latest, self._held, self._links
        state = self._last
        for _ in range(NOTED):
            if state <= 0:
                break
            if latest[state] == token:
                held[state] += 1
            else:
                if latest[state] >= 0:
                    self._other[state] = latest[state]
                latest[state], held[state] = token, 1
            state = links[state]
        self.size += 1

    def _state(self, edges: dict[int, int], link: int, length: int) -> int:
        self._edges.append(edges)
        self._links.append(link)
        self._lengths.append(length)
        self._latest.append(-1)
        self._held.append(0)
        self._other.append(-1)
        return len(self._links) - 1

    def _copy(self, state: int, length: int) -> int:
        """The shorter strings of a class, which from now on end in more places than the longer ones."""
        copy = self._state(dict(self._edges[state]), self._links[state], length)
        self._latest[copy], self._held[copy] = self._latest[state], self._held[state]
        self._other[copy] = self._other[state]
        return copy
