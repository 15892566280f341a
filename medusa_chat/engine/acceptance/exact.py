"""Rules that leave the answer as plain decoding would write it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from medusa_chat.engine.sampling import Posterior
from medusa_chat.engine.step import Rejection, Verdict


@dataclass(frozen=True, slots=True)
class Greedy:
    """Keep a child if it is the backbone's most likely token. Ignores the temperature."""

    def accept(self, posterior: Posterior) -> Verdict:
        return _descend(posterior, posterior.best)


@dataclass(frozen=True, slots=True)
class Lossless:
    """Draw the next token from the warped distribution; if it is a child, keep that child and go on from there.

    For trees whose children were chosen without chance this equals speculative sampling with residuals (draw = keep
    with p(child)) and needs no bookkeeping: every token of the answer is a draw of plain sampling. At temperature 0
    the draw is the most likely token, so this is greedy.
    """

    def accept(self, posterior: Posterior) -> Verdict:
        return _descend(posterior, posterior.draw)


def _descend(posterior: Posterior, choose: Callable[[int], int]) -> Verdict:
    tokens, children = posterior.tree.token_ids, posterior.tree.children()
    path = [0]
    while True:
        token = choose(path[-1])
        kept = next((child for child in children[path[-1]] if tokens[child] == token), None)
        if kept is None:
            break
        path.append(kept)
    return Verdict(tuple(path), token, _reasons(posterior, path, children) if posterior.explain else ())


def _reasons(posterior: Posterior, path: Sequence[int], children: Sequence[Sequence[int]]) -> tuple[Rejection, ...]:
    """Of every child that was looked at and not kept."""
    fallen = [child for node in path for child in children[node] if child not in path]
    return tuple(Rejection(node, chance) for node, chance in zip(fallen, posterior.chances(fallen), strict=True))
