"""Ancestry, depths and children of any tree agree with its parents; nonsense is refused."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from medusa_chat.engine.tree import CandidateTree


@st.composite
def trees(draw: st.DrawFn) -> CandidateTree:
    count = draw(st.integers(1, 80))
    parents = [-1, *(draw(st.integers(0, node - 1)) for node in range(1, count))]
    tokens = draw(st.lists(st.integers(0, 10**6), min_size=count, max_size=count))
    scores = draw(st.lists(st.floats(0, 1, width=32), min_size=count, max_size=count))
    sources = draw(st.lists(st.sampled_from(["head 1", "head 2", "lookup"]), min_size=count, max_size=count))
    return CandidateTree.build(tokens, parents, scores, ["root", *sources[1:]])


@given(trees())
def test_ancestry_is_what_climbing_to_the_root_finds(tree: CandidateTree) -> None:
    ancestry, depths = tree.ancestry(), tree.depths()
    assert ancestry.dtype == torch.bool
    assert ancestry.shape == (len(tree), len(tree))
    for node in range(len(tree)):
        climbed, at = [], node
        while at != -1:
            climbed.append(at)
            at = int(tree.parents[at])
        assert ancestry[node].nonzero().flatten().tolist() == sorted(climbed)
        assert depths[node] == len(climbed) - 1


@given(trees())
def test_children_and_parents_agree(tree: CandidateTree) -> None:
    children = tree.children()
    assert sorted(child for row in children for child in row) == list(range(1, len(tree)))
    for parent, row in enumerate(children):
        assert row == sorted(row)
        assert all(tree.parents[child] == parent for child in row)
        assert all(tree.depths()[child] == tree.depths()[parent] + 1 for child in row)


@given(trees())
def test_fields_have_the_promised_types(tree: CandidateTree) -> None:
    assert tree.tokens.dtype == tree.parents.dtype == torch.int64
    assert tree.scores.dtype == torch.float32
    assert tree.tokens.shape == tree.parents.shape == tree.scores.shape == (len(tree),)
    assert tree.tokens.device.type == "cpu"


@given(st.integers(0, 10**6))
def test_root_only(root: int) -> None:
    tree = CandidateTree.root_only(root)
    assert len(tree) == 1
    assert tree.tokens.tolist() == [root]
    assert tree.parents.tolist() == [-1]
    assert tree.scores.tolist() == [1.0]
    assert tree.children() == [[]]


@pytest.mark.parametrize(
    ("tokens", "parents", "scores"),
    [
        ([], [], []),
        ([1, 2], [-1], [1.0, 1.0]),
        ([1, 2], [-1, 0], [1.0]),
        ([1], [-1, 0], [1.0, 1.0]),
        ([1], [0], [1.0]),
        ([1, 2], [0, -1], [1.0, 1.0]),
        ([1, 2], [-1, -1], [1.0, 1.0]),
        ([1, 2], [-1, 1], [1.0, 1.0]),
        ([1, 2, 3], [-1, 2, 0], [1.0, 1.0, 1.0]),
        ([1, 2], [-1, -2], [1.0, 1.0]),
    ],
)
def test_what_is_no_tree_is_refused(tokens: list[int], parents: list[int], scores: list[float]) -> None:
    with pytest.raises(ValueError, match=r"tree needs|must be the root"):
        CandidateTree.build(tokens, parents, scores)


@given(trees(), st.integers(1, 90))
def test_the_first_nodes_are_a_tree_of_their_own(tree: CandidateTree, nodes: int) -> None:
    cut = tree.first(nodes)
    assert len(cut) == min(nodes, len(tree))
    again = CandidateTree.build(cut.tokens.tolist(), cut.parents.tolist(), cut.scores.tolist())
    assert cut.sources == tree.sources[:nodes]
    assert again.worths() == tree.worths()[: len(cut) - 1]


def test_worth_is_the_product_along_the_path() -> None:
    assert CandidateTree.build([7, 1, 2, 3], [-1, 0, 0, 2], [1.0, 0.5, 0.25, 0.5]).worths() == [0.5, 0.25, 0.125]


def test_who_proposed_a_node_stands_beside_it() -> None:
    assert CandidateTree.root_only(3).sources == ("root",)
    assert CandidateTree.build([3, 4], [-1, 0], [1.0, 0.5], ["root", "head 1"]).sources == ("root", "head 1")
    assert CandidateTree.build([3, 4], [-1, 0], [1.0, 1.0]).sources == ("root", "given")
    with pytest.raises(ValueError, match="equally many"):
        CandidateTree.build([3, 4], [-1, 0], [1.0, 0.5], ["root"])
