"""The claim everything rests on: a tree's logits are those of plain forward passes, in every family of decoders."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
import torch
from doubles.engine_bench import Bench
from doubles.tiny_families import VOCAB, WINDOW, Reference, tiny_model
from transformers import (
    BloomConfig,
    BloomForCausalLM,
    FalconConfig,
    FalconForCausalLM,
    Gemma2Config,
    Gemma2ForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    MambaConfig,
    MambaForCausalLM,
    MptConfig,
    MptForCausalLM,
)

from medusa_chat.engine.backbone import PREFILL_CHUNK, Backbone
from medusa_chat.engine.cache import BLOCK_ROWS
from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.tree import CandidateTree

CLOSE = 1e-5


def random_ids(draw: random.Random, count: int) -> list[int]:
    return [draw.randrange(VOCAB) for _ in range(count)]


def random_tree(draw: random.Random, nodes: int, root: int | None = None) -> CandidateTree:
    tokens = random_ids(draw, nodes)
    if root is not None:
        tokens[0] = root
    return CandidateTree.build(tokens, [-1, *(draw.randrange(node) for node in range(1, nodes))], [1.0] * nodes)


def path_to(tree: CandidateTree, node: int) -> list[int]:
    return [other for other in range(len(tree)) if tree.ancestry()[node, other]]


def assert_tree_is_sequential(bench: Bench, prefix: Sequence[int], tree: CandidateTree) -> None:
    """Logits and hidden state of every node against one forward pass over prefix + path."""
    readout = bench.backbone.verify(tree)
    assert readout.logits.shape == (len(tree), VOCAB)
    for node in range(len(tree)):
        ids = [*prefix, *tree.tokens[path_to(tree, node)].tolist()]
        torch.testing.assert_close(readout.logits[node], bench.reference.logits(ids)[-1], atol=CLOSE, rtol=0.0)
        torch.testing.assert_close(readout.hidden[node], bench.reference.hidden(ids), atol=CLOSE, rtol=0.0)


@pytest.mark.parametrize("prompt_length", [0, 1, WINDOW - 1, 3 * WINDOW])
def test_tree_logits_are_sequential_logits(bench: Bench, prompt_length: int) -> None:
    draw = random.Random(prompt_length)
    prompt = random_ids(draw, prompt_length)
    bench.backbone.prefill(prompt)
    for nodes in (1, 2, 9, 24):
        assert_tree_is_sequential(bench, prompt, random_tree(draw, nodes))
        assert bench.backbone.length == prompt_length


def test_tree_deeper_than_the_window_is_sequential(bench: Bench) -> None:
    """Two long branches side by side, so that a node's row is far from its position."""
    draw = random.Random(5)
    prompt = random_ids(draw, 5)
    bench.backbone.prefill(prompt)
    nodes = 4 * WINDOW
    branches = CandidateTree.build(random_ids(draw, nodes), [-1, 0, *range(nodes - 2)], [1.0] * nodes)
    assert int(branches.depths().max()) == 2 * WINDOW
    assert_tree_is_sequential(bench, prompt, branches)


def test_logits_stay_sequential_after_commits_of_scattered_paths(bench: Bench) -> None:
    draw = random.Random(3)
    ids = random_ids(draw, 2 * WINDOW)
    bench.backbone.prefill(ids)
    scattered = 0
    for _ in range(8):
        tree = random_tree(draw, 12)
        assert_tree_is_sequential(bench, ids, tree)
        path = path_to(tree, draw.randrange(len(tree)))
        scattered += path != list(range(len(path)))
        ids += tree.tokens[path].tolist()
        bench.backbone.commit(path)
        assert bench.backbone.ids == ids
        assert bench.backbone.length == len(ids)
        assert bench.backbone.last_hidden is not None
        torch.testing.assert_close(bench.backbone.last_hidden, bench.reference.hidden(ids), atol=CLOSE, rtol=0.0)
    assert scattered >= 4


@pytest.mark.parametrize("family", ["mistral", "gemma3"])
def test_the_window_matters_in_these_tests(family: str) -> None:
    # Control: with the window ignored the same prompt has other logits, so the tests above would notice.
    changes = {"layer_types": ["full_attention"] * 2} if family == "gemma3" else {"sliding_window": None}
    ids = random_ids(random.Random(3), 3 * WINDOW)
    windowed, full = Reference(tiny_model(family)), Reference(tiny_model(family, **changes))
    short = ids[: WINDOW - 1]
    if family == "mistral":  # In Gemma 3 the kinds of layers differ in their rotary base, too.
        torch.testing.assert_close(windowed.logits(short), full.logits(short))
    assert (windowed.logits(ids)[-1] - full.logits(ids)[-1]).abs().max() > 100 * CLOSE


def test_an_uncommitted_tree_leaves_no_trace(bench: Bench) -> None:
    draw = random.Random(8)
    prompt = random_ids(draw, WINDOW + 3)
    bench.backbone.prefill(prompt)
    tree = random_tree(draw, 8)
    before = bench.backbone.verify(tree).logits
    bench.backbone.verify(random_tree(draw, 30))
    torch.testing.assert_close(bench.backbone.verify(tree).logits, before, atol=0.0, rtol=0.0)


def test_rewinding_forgets_exactly_the_later_rows(bench: Bench) -> None:
    draw = random.Random(9)
    ids = random_ids(draw, 3 * WINDOW)
    bench.backbone.prefill(ids)
    for length in (3 * WINDOW - 1, WINDOW, 1, 0):
        bench.backbone.rewind(length)
        assert bench.backbone.ids == ids[:length]
        assert bench.backbone.last_hidden is None
        assert_tree_is_sequential(bench, ids[:length], random_tree(draw, 7))


def test_rewinding_forwards_is_refused(llama: Bench) -> None:
    llama.backbone.prefill([1, 2, 3])
    with pytest.raises(ValueError, match="3 are committed"):
        llama.backbone.rewind(4)


def test_commit_without_a_verified_tree_is_refused(llama: Bench) -> None:
    llama.backbone.prefill([1, 2, 3])
    with pytest.raises(RuntimeError, match="verified tree"):
        llama.backbone.commit([0])


def test_prefill_in_pieces_equals_one_go(bench: Bench) -> None:
    draw = random.Random(10)
    ids = random_ids(draw, 40)
    tree = random_tree(draw, 6)
    bench.backbone.prefill(ids)
    whole, hidden = bench.backbone.verify(tree).logits, bench.backbone.last_hidden
    for pieces in ([1] * 40, [13, 0, 20, 7]):
        bench.backbone.rewind(0)
        start = 0
        for piece in pieces:
            bench.backbone.prefill(ids[start : start + piece])
            start += piece
        assert bench.backbone.length == 40
        torch.testing.assert_close(bench.backbone.verify(tree).logits, whole, atol=CLOSE, rtol=0.0)
        torch.testing.assert_close(bench.backbone.last_hidden, hidden, atol=CLOSE, rtol=0.0)


def test_cache_grows_over_several_blocks(bench: Bench) -> None:
    """A prompt of more than one chunk, then steps over a block's edge; rows written before it must survive."""
    draw = random.Random(12)
    ids = random_ids(draw, 2 * BLOCK_ROWS - 9)
    assert len(ids) > PREFILL_CHUNK
    progress: list[tuple[int, int]] = []
    bench.backbone.prefill(ids, lambda done, total: progress.append((done, total)))
    assert progress == [(PREFILL_CHUNK, len(ids)), (len(ids), len(ids))]
    for _ in range(4):
        tree = random_tree(draw, 8)
        logits = bench.backbone.verify(tree).logits
        path = path_to(tree, 7)
        ids += tree.tokens[path].tolist()
        torch.testing.assert_close(logits[7], bench.reference.logits(ids)[-1], atol=CLOSE, rtol=0.0)
        bench.backbone.commit(path)
    bench.backbone.prefill(random_ids(draw, 8))
    assert_tree_is_sequential(bench, bench.backbone.ids, random_tree(draw, 3))
    assert bench.backbone.length > 2 * BLOCK_ROWS


def test_an_interrupted_prefill_leaves_whole_chunks(llama: Bench) -> None:
    ids = random_ids(random.Random(1), PREFILL_CHUNK + 50)

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        llama.backbone.prefill(ids, interrupt)
    assert llama.backbone.ids == ids[:PREFILL_CHUNK]
    llama.backbone.prefill(ids[PREFILL_CHUNK:])
    assert_tree_is_sequential(llama, ids, random_tree(random.Random(2), 3))


def test_eager_attention_takes_the_same_trees() -> None:
    """Models without "sdpa" get additive masks."""
    model = tiny_model("mistral")
    bench = Bench(Backbone(model), Reference(model))
    model._supports_sdpa = False
    eager = Bench(Backbone(model), bench.reference)
    assert model.config._attn_implementation == "eager"
    prompt = random_ids(random.Random(4), 2 * WINDOW)
    eager.backbone.prefill(prompt)
    assert_tree_is_sequential(eager, prompt, random_tree(random.Random(5), 10))


def test_grouped_queries_and_odd_head_sizes_are_really_there() -> None:
    llama, qwen3 = tiny_model("llama").config, tiny_model("qwen3").config
    assert llama.num_key_value_heads < llama.num_attention_heads
    assert qwen3.head_dim != qwen3.hidden_size // qwen3.num_attention_heads
    assert set(tiny_model("gemma3").config.layer_types) == {"full_attention", "sliding_attention"}


SMALL = {"vocab_size": VOCAB, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}


def test_layers_that_cannot_check_a_tree_are_refused() -> None:
    mamba = MambaForCausalLM(MambaConfig(vocab_size=VOCAB, hidden_size=32, num_hidden_layers=2))
    with pytest.raises(MedusaError, match=r"mamba has layers of type .* choose a model with full or sliding-window"):
        Backbone(mamba)
    chunked = tiny_model("llama")
    chunked.config.layer_types = ["full_attention", "chunked_attention"]
    with pytest.raises(MedusaError, match="layers of type chunked_attention"):
        Backbone(chunked)


def test_models_that_count_positions_themselves_are_refused() -> None:
    """Siblings need the same position; these would number them one after the other, or fail in their forward pass."""
    models = [
        BloomForCausalLM(BloomConfig(vocab_size=VOCAB, hidden_size=32, n_layer=2, n_head=4)),
        MptForCausalLM(MptConfig(vocab_size=VOCAB, d_model=32, n_layers=2, n_heads=4)),
        FalconForCausalLM(FalconConfig(**SMALL, alibi=True)),
    ]
    for model in models:
        with pytest.raises(MedusaError, match="counts the positions of its tokens itself"):
            Backbone(model)


@pytest.mark.parametrize("family", ["gpt2", "falcon", "gemma2"])
def test_other_ways_to_position_and_to_attend(family: str) -> None:
    """Learned positions; attention that cannot be exchanged; capped attention scores, which "sdpa" would leave out."""
    with torch.random.fork_rng():
        torch.manual_seed(2)
        if family == "gpt2":
            model = GPT2LMHeadModel(GPT2Config(vocab_size=VOCAB, n_embd=32, n_layer=2, n_head=4))
        elif family == "falcon":
            model = FalconForCausalLM(FalconConfig(**SMALL))
        else:
            capped = {"head_dim": 8, "sliding_window": WINDOW, "attn_logit_softcapping": 0.5, "initializer_range": 0.3}
            model = Gemma2ForCausalLM(Gemma2Config(**SMALL, **capped, num_key_value_heads=2, intermediate_size=48))
    reference = Reference(model.eval())
    bench = Bench(Backbone(model), reference)
    prompt = random_ids(random.Random(4), 2 * WINDOW)
    bench.backbone.prefill(prompt)
    tree = random_tree(random.Random(5), 10)
    readout = bench.backbone.verify(tree)
    for node in range(len(tree)):
        ids = [*prompt, *tree.tokens[path_to(tree, node)].tolist()]
        torch.testing.assert_close(readout.logits[node], reference.logits(ids)[-1], atol=CLOSE, rtol=0.0)


def test_fingerprint_tells_weights_apart_and_not_precisions() -> None:
    def fingerprint(change: float = 0.0, dtype: torch.dtype = torch.float32) -> str:
        model = tiny_model("llama").to(dtype)
        with torch.no_grad():
            model.lm_head.weight += change
        return Backbone(model).fingerprint()

    assert fingerprint() == fingerprint() == fingerprint(dtype=torch.bfloat16)
    assert fingerprint() != fingerprint(change=0.01)
