"""The best N nodes of a tree too large to write down: best first."""

from __future__ import annotations

from collections.abc import Container, Sequence
from heapq import heappop, heappush
from typing import Protocol, TypeAlias, TypeVar

from medusa_chat.engine.budget import Budget
from medusa_chat.engine.tree import ROOT, CandidateTree

State = TypeVar("State")


# Plain tuples: a step makes hundreds of them, and named ones take several times as long.
Offer: TypeAlias = tuple[int, float, str]
"""A token that may follow a node: the token, its probability, who proposes it."""

Stream: TypeAlias = tuple[Sequence[Offer], float, Container[int]]
"""Some of the tokens that may follow a node: the offers, likeliest first; a factor of all their probabilities, 0..1; tokens
to pass over, because another stream of the node has them."""


class Guide(Protocol[State]):
    """Knows what may follow a node. `State` is whatever it wants to remember of the way from the root to a node."""

    def begin(self) -> tuple[State, Sequence[Stream]]:
        """Of the root."""

    def follow(self, state: State, token: int, depth: int) -> tuple[State, Sequence[Stream]]:
        """Of the node that `token` is, below a node in `state`; `depth` edges from the root."""


def best_first(root: int, guide: Guide[State], budget: Budget) -> CandidateTree:
    """The tree of the likeliest nodes, as many as the budget wants.

    A node's worth is the product of probabilities along its path. Worth never rises from a node to its children, nor
    along a stream, so the first N nodes taken from the frontier are exactly the N best, and each one's parent comes
    before it. The search ends where the budget could not want more.
    """
    tokens, parents, scores, sources, worths = [root], [-1], [1.0], [ROOT], [1.0]
    limit, least = budget.limit, budget.least_worths
    # Entries: (-worth, order, parent, its depth, its state, stream, place in it); order breaks ties first in.
    frontier: list[tuple[float, int, int, int, State, Stream, int]] = []
    order = 0

    def reach(parent: int, depth: int, state: State, stream: Stream, place: int) -> None:
        nonlocal order
        offers, scale, without = stream
        while place < len(offers):
            token, probability, _ = offers[place]
            if token not in without:
                order += 1
                worth = worths[parent] * probability * scale
                heappush(frontier, (-worth, order, parent, depth, state, stream, place))
                return
            place += 1

    state, streams = guide.begin()
    for stream in streams:
        reach(0, 0, state, stream, 0)
    while frontier and len(tokens) < limit:
        worth, _, parent, depth, above, stream, place = heappop(frontier)
        token, probability, source = stream[0][place]
        node = len(tokens)
        if node < len(least) and -worth < least[node]:
            break
        tokens.append(token)
        parents.append(parent)
        scores.append(probability * stream[1])
        sources.append(source)
        worths.append(-worth)
        if node + 1 == limit:
            break
        reach(parent, depth, above, stream, place + 1)
        state, streams = guide.follow(above, token, depth + 1)
        for stream in streams:
            reach(node, depth + 1, state, stream, 0)
    nodes = budget.nodes(worths[1:])
    return CandidateTree(tuple(tokens[:nodes]), tuple(parents[:nodes]), tuple(scores[:nodes]), tuple(sources[:nodes]))
