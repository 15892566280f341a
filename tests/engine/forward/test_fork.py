"""Several sequences over one set of weights: each goes its own way and never notices the others."""

from __future__ import annotations

import random
import weakref

import pytest
import torch
from doubles.llama_likes import WIDE, llama_like
from doubles.native_library import compiled
from doubles.tiny_families import FAMILIES, VOCAB, WINDOW, tiny_model
from torch import Tensor

from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.forward.base import Forward
from medusa_chat.engine.forward.dissect import dissect
from medusa_chat.engine.forward.general import TransformersForward
from medusa_chat.engine.forward.lean import LeanForward
from medusa_chat.engine.forward.native import NativeForward
from medusa_chat.engine.tree import CandidateTree
from medusa_chat.kernels.native import decoder

TREE = CandidateTree.build([5, 6, 7, 8, 9, 10], [-1, 0, 0, 2, 2, 4], [1.0] * 6)
KEPT = (0, 2, 4, 5)
BITS = 0.0
CLOSE = 1e-5
"""Of general forward paths: the same rows in buffers of other sizes may be added up in another order."""


def _backbone(path: str) -> Backbone:
    """A fresh one with the same weights every time."""
    kind, _, family = path.partition(" ")
    if kind == "transformers":
        return Backbone(tiny_model(family))
    model = llama_like(family, **WIDE)
    forward: Forward
    if kind == "lean":
        forward = LeanForward(dissect(model))
    else:
        forward = NativeForward(compiled(), dissect(model), "int8" if kind == "int8" else "none")
    return Backbone(model, forward)


PATHS = (
    *(f"transformers {family}" for family in FAMILIES),
    *(f"{kind} {family}" for kind in ("lean", "native", "int8") for family in ("llama", "mistral", "qwen3")),
)


def _tokens(seed: int, count: int) -> list[int]:
    draw = random.Random(seed)
    return [draw.randrange(VOCAB) for _ in range(count)]


def _lived(backbone: Backbone, seed: int) -> list[Tensor]:
    """A life after the prompt: trees checked and kept, more tokens read; everything that was said on the way."""
    said: list[Tensor] = []
    for turn in range(3):
        readout = backbone.verify(TREE)
        said += [readout.logits, readout.hidden]
        backbone.commit(KEPT[: 2 + turn])
        backbone.prefill(_tokens(seed + turn, WINDOW))
    return said


def _same(left: list[Tensor], right: list[Tensor], limit: float) -> bool:
    return all(float((one - other).abs().max()) <= limit for one, other in zip(left, right, strict=True))


@pytest.mark.parametrize("rows", [0, 1, 15, 16, 40])
@pytest.mark.parametrize("path", PATHS)
def test_a_fork_goes_on_as_one_that_lived_alone_and_leaves_the_other_as_it_was(path: str, rows: int) -> None:
    limit = CLOSE if path.startswith(("transformers", "lean")) else BITS
    prompt, ahead = _tokens(1, rows), _tokens(2, 9)
    first, alone = _backbone(path), _backbone(path)
    first.prefill([*prompt, *ahead])
    fork = first.fork(rows)
    # Both live on, in turn; the fork reads other words than the first one.
    lives = [(fork, 10, prompt), (first, 20, [*prompt, *ahead]), (fork.fork(rows), 30, prompt)]
    said = [_lived(backbone, seed) for backbone, seed, _ in lives]
    for (backbone, seed, begun), heard in zip(lives, said, strict=True):
        alone.rewind(0)
        alone.prefill(begun)
        assert _same(heard, _lived(alone, seed), limit)
        assert backbone.ids == alone.ids
        assert backbone.length == len(backbone.ids)


def test_rows_on_trial_stay_where_they_are() -> None:
    backbone = _backbone("transformers llama")
    backbone.prefill([1, 2, 3])
    backbone.verify(TREE)
    fork = backbone.fork(3)
    backbone.commit(KEPT)
    assert (backbone.ids, fork.ids) == ([1, 2, 3, *(TREE.token_ids[node] for node in KEPT)], [1, 2, 3])
    with pytest.raises(RuntimeError, match="verified tree"):
        fork.commit(KEPT)


def test_the_hidden_state_goes_along_where_the_last_row_does() -> None:
    backbone = _backbone("transformers llama")
    backbone.prefill([1, 2, 3])
    whole, part = backbone.fork(3), backbone.fork(2)
    assert whole.last_hidden is not None
    assert torch.equal(whole.last_hidden, backbone.last_hidden)
    assert part.last_hidden is None


def test_a_native_fork_grows_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoder, "FIRST_ROWS", 16)
    backbone, alone = _backbone("native llama"), _backbone("native llama")
    backbone.prefill(_tokens(1, 40))
    fork = backbone.fork(33)
    alone.prefill(_tokens(1, 33))
    assert _same(_lived(fork, 5), _lived(alone, 5), BITS)


@pytest.mark.parametrize("path", ["transformers llama", "lean llama", "native llama"])
def test_no_weights_are_copied_and_a_dropped_fork_s_rows_are_let_go(path: str) -> None:
    backbone = _backbone(path)
    backbone.prefill(_tokens(1, 20))
    fork = backbone.fork(20)
    fork.verify(TREE)
    assert fork.model is backbone.model
    assert fork.output_layer is backbone.output_layer
    buffers = _buffers(fork)
    del fork
    assert buffers
    assert not [buffer for buffer in buffers if buffer() is not None]


def _buffers(backbone: Backbone) -> list[weakref.ref[Tensor]]:
    """The keys and values of its cache."""
    forward = backbone.forward
    if isinstance(forward, TransformersForward):
        found = [buffer for layer in forward._cache.layers for buffer in (layer.keys, layer.values)]
    elif isinstance(forward, LeanForward):
        found = [forward._store._buffer]
    else:
        found = [*forward._decoder._keys, *forward._decoder._values]
    return [weakref.ref(buffer) for buffer in found]
