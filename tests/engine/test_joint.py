"""One tree of several drafters: equal guesses merge, agreement counts, each part speaks where it knows something."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import pytest
import torch
from doubles.guessing_heads import FixedHeads

from medusa_chat.engine.backbone import Readout
from medusa_chat.engine.budget import FixedBudget
from medusa_chat.engine.drafters.base import DraftContext
from medusa_chat.engine.drafters.joint import Heads, Joint
from medusa_chat.engine.drafters.lookup import Lookup
from medusa_chat.engine.drafters.merging import AGREED, ASTRAY, SILENT
from medusa_chat.engine.drafters.recycling import Recycling
from medusa_chat.engine.shapes.dynamic import DynamicShape
from medusa_chat.engine.step import Step, Timings
from medusa_chat.engine.tree import CandidateTree

HIDDEN = torch.zeros(4)
REPEATED = [1, 2, 3, 70, 71, 72, 9, 1, 2, 3]
"""Ends as it began: lookup offers 70, then 71, 72, 9."""


def heads(tokens: Sequence[Sequence[int]], chances: Sequence[Sequence[float]]) -> Heads:
    return Heads(FixedHeads(tokens, chances), DynamicShape(), 8, 8)


def tree_of(ids: list[int], joint: Joint, budget: int = 30) -> CandidateTree:
    return joint.propose(DraftContext(ids, HIDDEN), FixedBudget(budget))


def first_level(tree: CandidateTree, node: int = 0) -> dict[int, tuple[float, str]]:
    """Token -> (probability, source) of a node's children."""
    return {tree.token_ids[child]: (tree.probabilities[child], tree.sources[child]) for child in tree.children()[node]}


def alone(ids: list[int]) -> float:
    """What lookup by itself gives its first offer."""
    return tree_of(ids, Joint(None, Lookup(), None)).probabilities[1]


def taught(**rows: Sequence[int]) -> Recycling:
    """Knows the successors of some tokens, as in t5=[8, 9]: best first, close together."""
    recycling = Recycling()
    for name, successors in rows.items():
        logits = torch.full((100,), -50.0)
        for rank, token in enumerate(successors):
            logits[token] = 5.0 - 0.5 * rank
        recycling.learn([int(name[1:])], [successors[0]], [logits])
    return recycling


def odds(probability: float) -> float:
    return probability / (1.0 - probability)


def test_equal_guesses_are_one_node_and_agreement_counts() -> None:
    tree = tree_of(REPEATED, Joint(heads([[70, 50, 51]], [[0.5, 0.2, 0.1]]), Lookup(), None))
    children = first_level(tree)
    assert sorted(children) == [50, 51, 70]
    lookup = alone(REPEATED)
    together = SILENT * odds(lookup) + AGREED * odds(0.5)
    assert children[70][0] == pytest.approx(together / (1.0 + together))
    assert children[70][0] > max(lookup, 0.5)
    # The heads' other guesses share what is left as they shared it before.
    assert children[50][0] == pytest.approx((1.0 - children[70][0]) * 0.2 / 0.5)
    assert children[51][0] == pytest.approx(children[50][0] / 2)


@pytest.mark.parametrize(("chance", "source"), [(0.9, "head 1"), (0.1, "lookup")])
def test_a_merged_node_is_named_after_the_surer_drafter(chance: float, source: str) -> None:
    tree = tree_of(REPEATED, Joint(heads([[70]], [[chance]]), Lookup(), None))
    assert first_level(tree)[70][1] == source


def test_a_head_that_names_other_tokens_speaks_against_lookup() -> None:
    tree = tree_of(REPEATED, Joint(heads([[50]], [[0.6]]), Lookup(), None))
    children = first_level(tree)
    assert odds(children[70][0]) == pytest.approx(SILENT * odds(alone(REPEATED)))
    assert children[50] == (pytest.approx(0.6 * (1.0 - children[70][0])), "head 1")


def test_probabilities_of_siblings_are_a_distribution_and_worths_never_rise() -> None:
    draw = random.Random(3)
    for _ in range(60):
        ids = [draw.randrange(6) for _ in range(draw.randrange(2, 40))]
        rows = [sorted((draw.random() for _ in range(6)), reverse=True) for _ in range(3)]
        sums = [sum(row) * draw.uniform(1.0, 1.5) for row in rows]
        chances = [[value / whole for value in row] for row, whole in zip(rows, sums, strict=True)]
        guesses = [draw.sample(range(6), 6) for _ in range(3)]
        parts = (heads(guesses, chances), Lookup(), taught(t1=[2, 3], t2=[5, 4, 1]))
        for joint in (Joint(*parts), Joint(None, *parts[1:])):
            tree = tree_of(ids, joint, 64)
            worths = tree.worths()
            assert all(after <= before for before, after in itertools.pairwise(worths))
            for node, children in enumerate(tree.children()):
                tokens = [tree.token_ids[child] for child in children]
                assert len(set(tokens)) == len(tokens)
                assert all(0.0 <= tree.probabilities[child] <= 1.0 for child in children)
                if joint.heads is not None and _depth(tree, node) < 3:
                    assert sum(tree.probabilities[child] for child in children) <= 1.0 + 1e-6


def _depth(tree: CandidateTree, node: int) -> int:
    return 0 if node == 0 else 1 + _depth(tree, tree.parent_nodes[node])


def test_lookup_goes_on_below_tokens_of_heads() -> None:
    ids = [5, 6, 30, 31, 32, 9, 8, 5]
    # Lookup knows 6 after 5; the head says 30, which stood after 5 6 only: there lookup takes up its thread again.
    tree = tree_of(ids, Joint(heads([[30]], [[0.9]]), Lookup(), None))
    below = tree.token_ids.index(30)
    assert tree.parent_nodes[below] == 0
    assert first_level(tree, below)[31][1] == "lookup"


def test_heads_are_doubted_below_what_they_did_not_name() -> None:
    tree = tree_of(REPEATED, Joint(heads([[50], [60]], [[0.6], [0.6]]), Lookup(), None))
    named, other = tree.token_ids.index(50), tree.token_ids.index(70)
    assert first_level(tree, named)[60][0] == pytest.approx(0.6)
    left = 1.0 - first_level(tree, other)[71][0]
    assert first_level(tree, other)[60][0] == pytest.approx(ASTRAY * 0.6 * left)


def test_recycling_agrees_with_heads_and_speaks_where_nobody_else_does() -> None:
    guesses = heads([[8, 7]], [[0.4, 0.3]])
    without = first_level(tree_of([1, 5], Joint(guesses, None, None)))
    tree = tree_of([1, 5], Joint(guesses, None, taught(t5=[8, 9], t8=[20, 21])))
    children = first_level(tree)
    assert sorted(children) == [7, 8], "where a head reaches, recycling names no tokens of its own"
    assert children[8][0] > without[8][0] > without[7][0] > children[7][0]
    below = first_level(tree, tree.token_ids.index(8))
    assert [below[token][1] for token in (20, 21)] == ["recycle", "recycle"]


def test_without_heads_lookup_and_recycling_share_the_tree() -> None:
    tree = tree_of(REPEATED, Joint(None, Lookup(), taught(t3=[70, 40])))
    children = first_level(tree)
    assert children[70] == (pytest.approx(alone(REPEATED)), "lookup")
    assert children[40][1] == "recycle"
    assert children[40][0] < 0.1
    assert tree_of([1, 2], Joint(None, Lookup(), Recycling())).token_ids == (2,)


def test_without_a_hidden_state_heads_are_not_asked() -> None:
    joint = Joint(heads([[50]], [[0.6]]), Lookup(), None)
    tree = joint.propose(DraftContext(REPEATED, None), FixedBudget(4))
    assert "head 1" not in tree.sources
    assert tree.token_ids[1] == 70


@pytest.mark.parametrize("limit", [1, 2, 5, 17])
def test_the_limit_holds(limit: int) -> None:
    parts = heads([[70, 50], [71, 60]], [[0.5, 0.2], [0.4, 0.3]]), Lookup(), taught(t3=[70, 40])
    assert len(tree_of(REPEATED, Joint(*parts), limit)) == limit


def test_learning_goes_on_while_nothing_is_drafted() -> None:
    """What an answer repeats is known as soon as the budget allows drafting again."""
    pairs = [[10 * i + 1000, 10 * i + 1001, 10 * i + 1002] for i in range(30)]
    ids = [token for pair in pairs for token in pair]
    joint = Joint(None, Lookup(), None)
    for pair in pairs:
        for token in (*pair[:2], pair[2] + 5000, pair[0] + 7000):
            ids.append(token)
            assert len(tree_of(ids, joint, 1)) == 1
    fresh = Joint(None, Lookup(), None)
    end = [*ids, 1, 2, 3, 4, 1, 2]
    tree_of(ids, fresh, 1)
    assert tree_of(end, joint).probabilities[1] < tree_of(end, fresh).probabilities[1] - 0.2


def test_kept_nodes_teach_recycling_their_successors() -> None:
    recycling = Recycling()
    joint = Joint(None, None, recycling)
    tree = CandidateTree.build([5, 6, 7], [-1, 0, 0], [1.0, 0.5, 0.5])
    logits = torch.full((3, 20), -50.0)
    logits[0, 7], logits[1, 11], logits[2, 12] = 1.0, 1.0, 1.0
    step = Step(1, tree, (0, 2), (7, 12), Timings())
    joint.observe(step, Readout(logits, torch.zeros(3, 4)))
    tree_of([5, 7, 12], joint, 1)
    assert [[token for token, _ in recycling.offers(read)] for read in (5, 6, 7)] == [[7], [], [12]]
