"""What a file of heads holds, read from its tensors alone.

Counts in published configs are known to be wrong (FasterDecoding's own speak of 2 heads beside files with 5), and heads
loaded leniently are random where a key did not match: no guess is ever kept and nothing says why. So every key must fit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from medusa_chat.engine.errors import MedusaError

_BLOCK = re.compile(r"(\d+)\.(\d+)\.linear\.(?:weight|bias)")
_OUTPUT = re.compile(r"(\d+)\.(\d+)\.weight")


@dataclass(frozen=True, slots=True)
class Layout:
    """Everything that follows from keys and shapes."""

    heads: int
    layers: int
    own_output: bool
    mapped: bool
    """A `token_map` restricts the heads' vocabulary."""
    sees_root: bool
    """A `root.weight` mixes in the root's embedding."""


def layout_of(tensors: Mapping[str, Tensor], hidden_size: int, vocab_size: int, source: str) -> Layout:
    """Check all keys and shapes against each other and against the backbone's sizes.

    Args:
        source: where the tensors come from, for messages.

    Raises:
        MedusaError: naming the first key that is missing, unexpected or has a wrong shape or type.
    """
    blocks = [match for key in tensors if (match := _BLOCK.fullmatch(key))]
    outputs = [match for key in tensors if (match := _OUTPUT.fullmatch(key))]
    if not blocks:
        raise MedusaError(f"{source} holds no Medusa heads: there is no tensor named 0.0.linear.weight.")
    layout = Layout(
        heads=1 + max(int(match[1]) for match in blocks),
        layers=1 + max(int(match[2]) for match in blocks),
        own_output=bool(outputs),
        mapped="token_map" in tensors,
        sees_root="root.weight" in tensors,
    )
    _check_hidden_size(tensors, hidden_size, source)
    vocab = _mapped_vocab(tensors["token_map"], vocab_size, source) if layout.mapped else None
    if layout.own_output and vocab is None:
        vocab = _own_vocab(tensors, layout, vocab_size, source)
    wanted = _wanted_shapes(layout, hidden_size, vocab)
    for key in wanted:
        if key not in tensors:
            raise MedusaError(f"{source} lacks the tensor {key}; the file is incomplete.")
    for key, tensor in tensors.items():
        if key not in wanted:
            raise MedusaError(f"{source} has an unexpected tensor {key}; this is no file of Medusa heads known here.")
        if tuple(tensor.shape) != wanted[key]:
            raise MedusaError(f"{source}: tensor {key} has shape {list(tensor.shape)}, needed is {list(wanted[key])}.")
    return layout


def _wanted_shapes(layout: Layout, hidden_size: int, vocab: int | None) -> dict[str, tuple[int, ...]]:
    wanted: dict[str, tuple[int, ...]] = {}
    for head in range(layout.heads):
        for layer in range(layout.layers):
            wanted[f"{head}.{layer}.linear.weight"] = (hidden_size, hidden_size)
            wanted[f"{head}.{layer}.linear.bias"] = (hidden_size,)
        if layout.own_output and vocab is not None:
            wanted[f"{head}.{layout.layers}.weight"] = (vocab, hidden_size)
    if layout.sees_root:
        wanted["root.weight"] = (hidden_size, hidden_size)
    if layout.mapped and vocab is not None:
        wanted["token_map"] = (vocab,)
    return wanted


def _check_hidden_size(tensors: Mapping[str, Tensor], hidden_size: int, source: str) -> None:
    first = tensors.get("0.0.linear.weight")
    if first is not None and first.dim() == 2 and first.shape[0] == first.shape[1] != hidden_size:
        raise MedusaError(
            f"{source} holds heads for a hidden size of {first.shape[0]}, but this model's is {hidden_size}; "
            "they belong to another model."
        )


def _mapped_vocab(token_map: Tensor, vocab_size: int, source: str) -> int:
    ids = token_map.flatten()
    if token_map.dtype != torch.int64 or not len(ids):
        raise MedusaError(f"{source}: token_map must be a list of token ids (int64), not {token_map.dtype}.")
    if int(ids.min()) < 0 or int(ids.max()) >= vocab_size:
        raise MedusaError(f"{source}: token_map names token {int(ids.max())}, but this model has {vocab_size} tokens.")
    if len(set(ids.tolist())) != len(ids):
        raise MedusaError(f"{source}: token_map names a token twice.")
    return len(ids)


def _own_vocab(tensors: Mapping[str, Tensor], layout: Layout, vocab_size: int, source: str) -> int:
    own = tensors.get(f"0.{layout.layers}.weight")
    rows = vocab_size if own is None else int(own.shape[0])
    if rows > vocab_size:
        raise MedusaError(f"{source} holds heads for {rows} tokens, but this model has {vocab_size}; they do not fit.")
    return rows
