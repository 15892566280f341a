"""Step records as a real engine would leave them for a given text: eight-node trees, varied accepted lengths."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from itertools import cycle

from medusa_chat.engine.options import Reason
from medusa_chat.host.messages import BeliefRecord, RejectionRecord, StepRecord, TreeRecord

LENGTHS = (3, 1, 2, 4, 2, 5, 1, 3)
"""Accepted lengths, step after step, round and round: the mean is 2.625."""

PARENTS = (-1, 0, 0, 1, 1, 3, 3, 5)
"""Cut after any node it is a tree still, so smaller budgets take a prefix."""

SCORES = (1.0, 0.62, 0.21, 0.48, 0.17, 0.39, 0.11, 0.27)

SOURCES = ("root", "head 1", "head 1", "head 2", "head 2", "head 3", "head 3", "head 4")

ROOT = "\n"
"""The last token of a chat prompt, and so the root of the first step."""

END = "<|im_end|>"

_DISTRACTORS = (" the", ",", " and", " a", " is", " of", " in", ".")
_VOCABULARY = 49152


def pieces_of(text: str) -> list[str]:
    """The text cut as a tokenizer would: words with the space before them, marks, single wide characters."""
    return re.findall(r" ?[A-Za-z0-9À-ɏ']+|\s|[^\sA-Za-z0-9À-ɏ']", text)


def token_id(piece: str) -> int:
    """The same for the same piece, in every run."""
    return zlib.crc32(piece.encode()) % _VOCABULARY


def steps_of(
    text: str,
    *,
    lengths: Sequence[int] = LENGTHS,
    nodes: int = len(PARENTS),
    finish: Reason = "eos",
) -> tuple[StepRecord, ...]:
    """Steps whose texts join to `text`.

    `lengths` are the accepted lengths wanted, taken in turn; a tree of `nodes` nodes (1 to 8) may be too shallow for
    some of them, and the last step takes what is left. An answer that ends with "eos" counts an end token at its end
    that is never shown.
    """
    pieces = pieces_of(text) + ([END] if finish == "eos" else [])
    records: list[StepRecord] = []
    root = ROOT
    wanted = cycle(lengths)
    while pieces:
        index = len(records) + 1
        path = _path(min(next(wanted), len(pieces)) - 1, nodes, index)
        kept, pieces = pieces[: len(path)], pieces[len(path) :]
        records.append(_record(index, root, kept, path, nodes, None if pieces else finish))
        root = kept[-1]
    return tuple(records)


def _path(depth: int, nodes: int, index: int) -> tuple[int, ...]:
    """A path of at most `depth` nodes below the root; steps take turns among the nodes of that depth."""
    paths = [_ancestors(node) for node in range(nodes)]
    reachable = min(depth, max(len(path) for path in paths) - 1)
    candidates = [path for path in paths if len(path) - 1 == reachable]
    return candidates[index % len(candidates)]


def _ancestors(node: int) -> tuple[int, ...]:
    return (0,) if node == 0 else (*_ancestors(PARENTS[node]), node)


def _record(
    index: int, root: str, kept: list[str], path: tuple[int, ...], nodes: int, finish: Reason | None
) -> StepRecord:
    won = dict(zip(path, [root, *kept[:-1]], strict=True))
    other = _distractors(index, kept)
    texts = tuple(won[node] if node in won else next(other) for node in range(nodes))
    beliefs = _beliefs(index, kept, path, nodes)
    return StepRecord(
        index=index,
        tree=TreeRecord(tuple(map(token_id, texts)), PARENTS[:nodes], SCORES[:nodes], texts, SOURCES[:nodes]),
        path=path,
        tokens=tuple(map(token_id, kept)),
        text="".join(piece for piece in kept if piece != END),
        draft_ms=0.9 + 0.1 * (index % 3) if nodes > 1 else 0.0,
        verify_ms=9.0 + 0.25 * (index % 4),
        accept_ms=0.2,
        commit_ms=0.1,
        reasons=tuple(
            RejectionRecord(node, beliefs.probabilities[node])
            for node in range(1, nodes)
            if node not in path and PARENTS[node] in path
        ),
        finish=finish,
        beliefs=beliefs,
    )


def _beliefs(index: int, kept: list[str], path: tuple[int, ...], nodes: int) -> BeliefRecord:
    """As of temperature 0: what was kept, and what followed it, is the favourite of the node before it."""
    follows = dict(zip(path, kept, strict=True))
    certainties = tuple(round(0.55 + 0.05 * ((index + node) % 8), 2) for node in range(nodes))
    return BeliefRecord(
        probabilities=tuple(
            1.0 if node == 0 else certainties[PARENTS[node]] if node in path else round(0.03 / node, 4)
            for node in range(nodes)
        ),
        entropies=tuple(round(4.0 * (1.0 - certainty), 2) for certainty in certainties),
        favourites=tuple(follows.get(node, " so") for node in range(nodes)),
        certainties=certainties,
    )


def _distractors(index: int, kept: list[str]) -> Iterator[str]:
    """Guesses that were wrong: never a piece that was kept, never the same one twice in a tree."""
    turned = _DISTRACTORS[index % len(_DISTRACTORS) :] + _DISTRACTORS[: index % len(_DISTRACTORS)]
    usable = [piece for piece in turned if piece not in kept]
    return iter([*usable, *(f" guess{number}" for number in range(len(PARENTS)))])
