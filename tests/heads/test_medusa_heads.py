"""Heads as the drafter sees them."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from medusa_chat.engine.backbone import Backbone
from medusa_chat.heads import MedusaHeads

TOKEN_MAP = torch.tensor([1, 4, 5, 40, 41, 77, 100, 119])


def random_heads(backbone: Backbone, layers: int, own_output: bool, token_map: Tensor | None) -> MedusaHeads:
    heads = MedusaHeads.fresh(
        backbone.output_layer.weight, count=3, layers=layers, own_output=own_output, token_map=token_map
    )
    torch.manual_seed(11)
    for parameter in heads.parameters():
        nn.init.normal_(parameter, std=0.2)
    return heads


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("own_output", [False, True])
def test_fresh_heads_repeat_the_backbones_own_guess(backbone: Backbone, own_output: bool, frozen: bool) -> None:
    backbone.rewind(0)
    backbone.prefill([5, 9, 33, 2])
    assert backbone.last_hidden is not None
    wanted = backbone.output_layer(backbone.last_hidden[None])[0].softmax(dim=-1).topk(6)
    heads = MedusaHeads.fresh(backbone.output_layer.weight, count=4, layers=2, own_output=own_output)
    guesses = (heads.freeze() if frozen else heads).guess(backbone.last_hidden, 7, 4, 6)
    for head in range(4):
        assert guesses.tokens[head].tolist() == wanted.indices.tolist()
        torch.testing.assert_close(guesses.probabilities[head], wanted.values)


@pytest.mark.parametrize("token_map", [None, TOKEN_MAP], ids=["all-tokens", "some-tokens"])
@pytest.mark.parametrize("own_output", [False, True], ids=["shared", "own"])
@pytest.mark.parametrize("layers", [1, 3])
def test_one_batched_product_equals_head_by_head(
    backbone: Backbone, layers: int, own_output: bool, token_map: Tensor | None
) -> None:
    heads = random_heads(backbone, layers, own_output, token_map)
    hidden = torch.randn(32)
    guesses = heads.guess(hidden, 7, 3, 5)
    for head in range(3):
        state = hidden
        for layer in range(layers):
            block = nn.Linear(32, 32)
            block.load_state_dict({"weight": heads.weights[layer, head], "bias": heads.biases[layer, head]})
            state = state + nn.functional.silu(block(state))
        output = heads.output[head] if own_output else heads.output
        odds, columns = (output @ state).softmax(dim=-1).topk(5)
        tokens = columns if token_map is None else token_map[columns]
        assert guesses.tokens[head].tolist() == tokens.tolist()
        torch.testing.assert_close(guesses.probabilities[head], odds.detach())


def test_restricted_heads_guess_only_their_tokens(backbone: Backbone) -> None:
    heads = random_heads(backbone, 1, False, TOKEN_MAP).freeze()
    guesses = heads.guess(torch.randn(32), 7, 3, 8)
    assert all(sorted(row) == TOKEN_MAP.tolist() for row in guesses.tokens.tolist())
    torch.testing.assert_close(guesses.probabilities.sum(dim=-1), torch.ones(3))


def rooted(backbone: Backbone) -> MedusaHeads:
    return MedusaHeads.fresh(backbone.output_layer.weight, count=2, layers=2, embedding=backbone.embedding)


def test_fresh_heads_that_see_the_root_repeat_the_backbones_own_guess_too(backbone: Backbone) -> None:
    plain = MedusaHeads.fresh(backbone.output_layer.weight, count=2, layers=2)
    hidden = torch.randn(32)
    for root in (0, 55):
        assert torch.equal(rooted(backbone).guess(hidden, root, 2, 9).tokens, plain.guess(hidden, 0, 2, 9).tokens)


def test_the_root_is_seen_at_unit_scale(backbone: Backbone) -> None:
    heads = rooted(backbone)
    assert heads.root_weight is not None
    nn.init.normal_(heads.root_weight, std=0.5)
    hidden, root = torch.randn(32), backbone.embedding[55]
    shown = hidden + heads.root_weight @ (root / root.pow(2).mean().sqrt())
    plain = MedusaHeads.fresh(backbone.output_layer.weight, count=2, layers=2)
    got, wanted = heads.guess(hidden, 55, 2, 9), plain.guess(shown.detach(), 0, 2, 9)
    assert torch.equal(got.tokens, wanted.tokens)
    torch.testing.assert_close(got.probabilities, wanted.probabilities, atol=1e-4, rtol=1e-4)
    assert not torch.equal(got.tokens, heads.guess(hidden, 54, 2, 9).tokens)


def test_more_heads_or_ranks_than_there_are_means_all(backbone: Backbone) -> None:
    heads = random_heads(backbone, 1, False, TOKEN_MAP)
    assert heads.guess(torch.randn(32), 7, 99, 1000).tokens.shape == (3, len(TOKEN_MAP))
    assert heads.guess(torch.randn(32), 7, 2, 4).tokens.shape == (2, 4)


def test_fewer_heads_guess_what_all_heads_guess(backbone: Backbone) -> None:
    heads = random_heads(backbone, 2, True, None)
    hidden = torch.randn(32)
    assert torch.equal(heads.guess(hidden, 7, 1, 4).tokens, heads.guess(hidden, 7, 3, 4).tokens[:1])


def test_guesses_are_plain_types_on_the_cpu_in_any_precision(backbone: Backbone) -> None:
    heads = random_heads(backbone, 1, False, TOKEN_MAP).to(torch.bfloat16).freeze()
    guesses = heads.guess(torch.randn(32, dtype=torch.bfloat16), 7, 3, 5)
    assert (guesses.tokens.dtype, guesses.probabilities.dtype) == (torch.int64, torch.float32)
    assert (guesses.probabilities.diff(dim=-1) <= 0).all()


def test_dropout_is_for_training_only(backbone: Backbone) -> None:
    heads = random_heads(backbone, 2, False, None)
    heads.dropout = 0.5
    hidden, roots = torch.randn(4, 32), torch.zeros(4, dtype=torch.int64)
    assert not torch.equal(heads(hidden, roots), heads(hidden, roots))
    heads.freeze()
    assert torch.equal(heads(hidden, roots), heads(hidden, roots))
