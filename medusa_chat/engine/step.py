"""What one step of the loop leaves behind."""

from __future__ import annotations

from dataclasses import dataclass

from medusa_chat.engine.options import Reason
from medusa_chat.engine.tree import CandidateTree


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a child that was looked at fell, in numbers."""

    node: int
    probability: float
    """Of the child's token under the backbone's warped distribution at the parent."""
    needed: float | None = None
    """The threshold it missed; None where the rule drew (or took) another token instead."""
    entropy: float | None = None
    """In nats, of the parent's distribution; only where the rule uses it."""


@dataclass(frozen=True, slots=True)
class Beliefs:
    """What the backbone held of a verified tree, one entry a node: under the warped distribution the rules use, at
    temperature 0 under that of temperature 1."""

    probabilities: tuple[float, ...]
    """Of the node's token, at its parent; the root's is 1."""
    entropies: tuple[float, ...]
    """In nats, of the distribution after the node."""
    favourites: tuple[int, ...]
    """The likeliest token after the node."""
    certainties: tuple[float, ...]
    """Probability of that token."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an acceptance rule decided about a verified tree."""

    path: tuple[int, ...]
    """Kept nodes from the root (always node 0, always first) downwards."""
    next_root: int
    """The token the backbone adds after the last kept node."""
    reasons: tuple[Rejection, ...] = ()


@dataclass(frozen=True, slots=True)
class Timings:
    """Milliseconds of one step, by part."""

    draft: float = 0.0
    verify: float = 0.0
    accept: float = 0.0
    text: float = 0.0
    """Detokenising the new tokens and looking for where the answer ends."""
    commit: float = 0.0

    @property
    def total(self) -> float:
        return self.draft + self.verify + self.accept + self.text + self.commit


@dataclass(frozen=True, slots=True)
class Step:
    """One forward pass of the backbone and everything it decided."""

    index: int
    """Counts from 1."""
    tree: CandidateTree
    path: tuple[int, ...]
    """Kept nodes, cut where the answer ended; len(path) == len(tokens)."""
    tokens: tuple[int, ...]
    """The answer's new tokens: those of path[1:], then the one the backbone added. At least one."""
    ms: Timings
    reasons: tuple[Rejection, ...] = ()
    """Empty where nobody wants to look (`Sampler.explain`)."""
    beliefs: Beliefs | None = None
    """None where nobody wants to look."""
    text: str = ""
    """What became showable in this step; half characters and possible stop strings are held back."""
    finish: Reason | None = None
    """Set on the last step of an answer."""
    plain_ms: float | None = None
    """Milliseconds a plain step would have taken at this place and moment; None where nobody wants to know."""
