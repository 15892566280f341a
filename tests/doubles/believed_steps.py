"""Step records with what the backbone held of them, for trees of any shape."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from medusa_chat.host.messages import BeliefRecord, RejectionRecord, StepRecord, TreeRecord

PIECES = (
    " Paris",
    " the",
    "\n",
    "東京",
    "🙂",
    "é",
    "👩‍👩‍👧",
    " ",
    "\t",
    "",
    " a rather long piece of text",
    "\x1b[31m",
    "[/b]",
)
SOURCES = ("head 1", "head 2", "head 3", "head 4", "head 5", "lookup", "recycle")


def believed(step: StepRecord, favourite: str = " Paris") -> StepRecord:
    """The same step with beliefs: kept nodes are likely (0.8), fallen ones hardly (0.02)."""
    nodes = range(len(step.tree.tokens))
    chances = tuple(1.0 if not node else 0.8 if node in step.path else 0.02 for node in nodes)
    followed = dict(zip(step.path, (*(step.tree.texts[node] for node in step.path[1:]), favourite), strict=True))
    return replace(
        step,
        beliefs=BeliefRecord(
            probabilities=chances,
            entropies=tuple(0.5 + 0.1 * node for node in nodes),
            favourites=tuple(followed.get(node, favourite) for node in nodes),
            certainties=tuple(0.8 for _ in nodes),
        ),
    )


def random_step(seed: int, nodes: int, index: int = 1) -> StepRecord:
    """A step of a tree of `nodes` nodes of any shape; every child of the path that is not on it was looked at."""
    dice = random.Random(seed)
    parents = [-1, *(dice.randrange(node) if dice.random() < 0.6 else node - 1 for node in range(1, nodes))]
    path = [0]
    while (children := [node for node in range(nodes) if parents[node] == path[-1]]) and dice.random() < 0.8:
        path.append(dice.choice(children))
    texts = [dice.choice(PIECES) for _ in range(nodes)]
    fallen = [node for node in range(1, nodes) if parents[node] in path and node not in path]
    tree = TreeRecord(
        tokens=tuple(dice.randrange(49152) for _ in range(nodes)),
        parents=tuple(parents),
        scores=(1.0, *(round(dice.random(), 3) for _ in range(1, nodes))),
        texts=tuple(texts),
        sources=("root", *(dice.choice(SOURCES) for _ in range(1, nodes))),
    )
    return believed(
        StepRecord(
            index=index,
            tree=tree,
            path=tuple(path),
            tokens=(*(tree.tokens[node] for node in path[1:]), 7),
            text="".join(texts[node] for node in path[1:]) + " Paris",
            draft_ms=0.9,
            verify_ms=9.25,
            accept_ms=0.2,
            commit_ms=0.1,
            text_ms=0.05,
            reasons=_reasons(fallen, dice),
        )
    )


def _reasons(fallen: Sequence[int], dice: random.Random) -> tuple[RejectionRecord, ...]:
    return tuple(RejectionRecord(node, round(0.05 * dice.random(), 4), 0.0581, 1.642) for node in fallen)
