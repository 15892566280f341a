"""What became of each node of a step's candidate tree."""

from __future__ import annotations

from enum import Enum, auto

from medusa_chat.host.messages import StepRecord


class Fate(Enum):
    """In the order of how far a node came."""

    ROOT = auto()
    """Certain before the step began."""
    KEPT = auto()
    HELD = auto()
    """Good enough for a lossy rule, but another path was longer or likelier."""
    FELL = auto()
    """Looked at and not kept."""
    UNSEEN = auto()
    """Below a node that fell, so never looked at."""


_STANDING = (Fate.ROOT, Fate.KEPT, Fate.HELD)


def fates(step: StepRecord) -> tuple[Fate, ...]:
    """One for each node."""
    path = frozenset(step.path)
    fallen = {reason.node for reason in step.reasons}
    bounded = any(reason.needed is not None for reason in step.reasons)
    found = [Fate.ROOT]
    for node, parent in enumerate(step.tree.parents[1:], start=1):
        if node in path:
            found.append(Fate.KEPT)
        elif node in fallen:
            found.append(Fate.FELL)
        elif found[parent] not in _STANDING:
            found.append(Fate.UNSEEN)
        else:
            found.append(Fate.HELD if bounded else Fate.FELL)
    return tuple(found)
