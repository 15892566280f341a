"""From the backbone's logits to tokens: warped distributions, one random generator, node by node."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from transformers import (
    LogitsProcessorList,
    MinPLogitsWarper,
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
)

from medusa_chat.engine.nucleus import TopP
from medusa_chat.engine.options import Sampling
from medusa_chat.engine.tree import CandidateTree


class Sampler:
    """Holds what an answer's randomness depends on: the options, the processors, one generator."""

    def __init__(self, sampling: Sampling, device: torch.device | str = "cpu", *, explain: bool = True) -> None:
        """
        Args:
            explain: whether exact rules say how likely the children were that fell (a softmax for every kept node, about
                a hundredth of a small model's step), and steps what the backbone held of the whole tree, for whoever
                looks at it.
        """
        self.explain = explain
        self.generator = torch.Generator(device)
        self.seed = self.generator.seed() if sampling.seed is None else sampling.seed
        self.generator.manual_seed(self.seed)
        self.adjust(sampling)

    def adjust(self, sampling: Sampling) -> None:
        """Other options from the next token on; the generator goes on where it is, so a new seed means nothing here."""
        self.sampling = sampling
        self.penalties, self.warpers = _penalties(sampling), _warpers(sampling)

    def posterior(self, ids: Sequence[int], tree: CandidateTree, logits: Tensor) -> Posterior:
        """What the backbone says at each node.

        Args:
            ids: all committed tokens, the last of them the root; not to change while the posterior is in use.
            tree: the verified tree, n nodes.
            logits: [n, vocab_size].
        """
        return Posterior(self, ids, tree, logits)

    def draw(self, distribution: Tensor) -> int:
        """A token by its probability: the place where the running sum passes a random number.

        Args:
            distribution: [vocab_size], on the generator's device.
        """
        # torch.multinomial draws one random number a token, which takes as long as a tenth of a small model's step.
        sums = distribution.cumsum(dim=-1, dtype=torch.float64)
        mark = torch.rand(1, generator=self.generator, device=sums.device, dtype=torch.float64) * sums[-1]
        token = int(torch.searchsorted(sums, mark, right=True))
        return token if token < len(sums) else int(distribution.nonzero()[-1])


class Posterior:
    """The backbone's distribution after each node, computed once for the nodes that are asked about.

    Penalties see the committed tokens + the path of the node, as plain decoding would at that point.
    """

    def __init__(self, sampler: Sampler, ids: Sequence[int], tree: CandidateTree, logits: Tensor) -> None:
        self.tree = tree
        self._sampler = sampler
        self._ids = ids
        self._logits = logits
        self._distributions: dict[int, Tensor] = {}
        self._best: list[int] | None = None

    @property
    def explain(self) -> bool:
        """Whether it will be shown why children fell."""
        return self._sampler.explain

    def best(self, node: int) -> int:
        """The most likely next token, temperature left aside."""
        if self._sampler.penalties:
            return int(self._penalised(node).argmax())
        if self._logits.device.type == "cpu" and self._logits.dtype == torch.float32:
            # One row at a time, because few nodes are asked about; numpy finds the place ten times faster than torch.
            return int(self._logits[node].numpy().argmax())
        if self._best is None:
            # One transfer for the whole tree instead of one a node.
            self._best = self._logits.argmax(dim=-1).tolist()
        return self._best[node]

    def draw(self, node: int) -> int:
        """The next token as plain sampling would choose it: the best at temperature 0, else drawn."""
        if self._sampler.sampling.greedy:
            return self.best(node)
        return self._sampler.draw(self.distribution(node))

    def distribution(self, node: int) -> Tensor:
        """[vocab_size] float32, after penalties and warpers; one-hot at temperature 0. Not to be changed."""
        if node not in self._distributions:
            self._distributions[node] = self._warped(node)
        return self._distributions[node]

    def chances(self, nodes: Sequence[int]) -> list[float]:
        """How likely the backbone finds each node's token at its parent, for showing: the warped probability, and
        at temperature 0 the plain softmax, since one-hot says nothing."""
        tokens, parents = self.tree.token_ids, self.tree.parent_nodes
        offered: dict[int, list[int]] = {}
        for node in nodes:
            offered.setdefault(parents[node], []).append(node)
        chances: dict[int, float] = {}
        for parent, children in offered.items():
            shown = self._shown(parent)[[tokens[child] for child in children]]
            chances.update(zip(children, shown.tolist(), strict=True))
        return [chances[node] for node in nodes]

    def shown_scores(self, node: int) -> Tensor:
        """[vocab_size] float32, for showing: the softmax of these is what `chances` and `beliefs` speak of. Not to be
        changed."""
        scores = self._penalised(node)
        return scores if self._sampler.sampling.greedy else self._sampler.warpers(None, scores[None])[0]  # type: ignore[arg-type]

    def _shown(self, node: int) -> Tensor:
        greedy = self._sampler.sampling.greedy
        return self.shown_scores(node).softmax(dim=-1) if greedy else self.distribution(node)

    def _warped(self, node: int) -> Tensor:
        if not self._sampler.sampling.greedy:
            return self.shown_scores(node).softmax(dim=-1)
        scores = self._penalised(node)
        return torch.zeros_like(scores).scatter_(0, scores.argmax(keepdim=True), 1.0)

    def _penalised(self, node: int) -> Tensor:
        scores = self._logits[node].float()
        if not self._sampler.penalties:
            return scores
        ids = torch.tensor([[*self._ids[:-1], *self._path_tokens(node)]], device=scores.device)
        return self._sampler.penalties(ids, scores[None])[0]  # type: ignore[arg-type]

    def _path_tokens(self, node: int) -> list[int]:
        path = []
        while node >= 0:
            path.append(self.tree.token_ids[node])
            node = self.tree.parent_nodes[node]
        return path[::-1]


def _penalties(sampling: Sampling) -> LogitsProcessorList:
    penalties = LogitsProcessorList()
    if sampling.repetition_penalty != 1.0:
        penalties.append(RepetitionPenaltyLogitsProcessor(sampling.repetition_penalty))
    return penalties


def _warpers(sampling: Sampling) -> LogitsProcessorList:
    """In transformers' order; each one only when it changes something, and none of them looks at the token ids."""
    warpers = LogitsProcessorList()
    if sampling.temperature not in (0.0, 1.0):
        warpers.append(TemperatureLogitsWarper(sampling.temperature))
    if sampling.top_k > 0:
        warpers.append(TopKLogitsWarper(sampling.top_k))
    if sampling.top_p < 1.0:
        warpers.append(TopP(sampling.top_p))
    if sampling.min_p > 0.0:
        warpers.append(MinPLogitsWarper(sampling.min_p))
    return warpers
