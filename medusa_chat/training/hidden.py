"""The backbone's hidden states of all training answers, computed once and kept on disk.

Medusa-1 trains heads on a frozen backbone, so its hidden states never change: one forward pass over every
conversation, then any number of epochs without the backbone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor
from transformers import PreTrainedModel

from medusa_chat.engine.errors import MedusaError
from medusa_chat.training.conversations import Conversation

SHARD_TOKENS = 20_000
BATCH_TOKENS = 4_096


@dataclass(frozen=True, slots=True)
class HiddenStates:
    """Conversations end to end."""

    hidden: Tensor
    """[tokens, hidden_size] float16: last normed hidden state at every token, the input of the output layer."""
    tokens: Tensor
    """[tokens] int64."""
    lengths: Tensor
    """[conversations] int64: tokens of each conversation."""
    left: Tensor
    """[tokens] int64: tokens of the same answer that follow this one as a root; see `Conversation.left`."""

    @classmethod
    def join(cls, parts: Sequence[HiddenStates]) -> HiddenStates:
        return cls(*(torch.cat([getattr(part, name) for part in parts]) for name in cls.__slots__))


def compute(
    model: PreTrainedModel,
    conversations: Sequence[Conversation],
    folder: Path,
    *,
    low_precision: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> None:
    """Write the hidden states of all conversations that `folder` does not hold yet, shard by shard.

    Args:
        low_precision: multiply in bfloat16 (weights and sums stay in the model's own type); several times faster on
            CPUs with bfloat16 instructions, hidden states off by about one per cent.
        on_progress: called with tokens done and tokens in all after every batch.
    """
    folder.mkdir(parents=True, exist_ok=True)
    present = {key for shard in _shards(folder) for key in _read(shard, ["keys"])[0].tolist()}
    todo = [conversation for conversation in conversations if _key(conversation) not in present]
    total = sum(len(conversation.ids) for conversation in conversations)
    done = total - sum(len(conversation.ids) for conversation in todo)
    number = len(_shards(folder))
    for shard in _groups(todo, SHARD_TOKENS):
        parts = []
        for batch in _groups(shard, BATCH_TOKENS):
            parts.append(forward(model, batch, low_precision))
            done += int(parts[-1].lengths.sum())
            if on_progress is not None:
                on_progress(done, total)
        _write(folder / f"hidden-{number:05d}.safetensors", HiddenStates.join(parts), shard)
        number += 1


def load(folder: Path, conversations: Sequence[Conversation]) -> HiddenStates:
    """The hidden states of exactly these conversations, whatever else the folder holds.

    Raises:
        MedusaError: some were never computed, or a shard is damaged.
    """
    wanted = {_key(conversation): conversation for conversation in conversations}
    found: set[int] = set()
    parts = []
    for path in _shards(folder):
        keys, hidden, tokens, lengths = _read(path, ["keys", "hidden", "tokens", "lengths"])
        ends = lengths.tolist()
        pieces = zip(keys.tolist(), torch.split(hidden, ends), torch.split(tokens, ends), lengths, strict=True)
        for key, rows, ids, length in pieces:
            if key in wanted and key not in found:
                found.add(key)
                left = torch.tensor(wanted[key].left())
                parts.append(HiddenStates(rows, ids.long(), length[None].long(), left))
    if found != set(wanted):
        raise MedusaError(
            f"{folder} lacks the hidden states of {len(wanted) - len(found)} conversations; resume the run."
        )
    return HiddenStates.join(parts)


def forward(model: PreTrainedModel, conversations: Sequence[Conversation], low_precision: bool) -> HiddenStates:
    """One padded batch; pads on the right need no mask, because a causal model never looks right."""
    sequences = [conversation.ids for conversation in conversations]
    ids = torch.zeros(len(sequences), max(map(len, sequences)), dtype=torch.int64)
    for row, sequence in enumerate(sequences):
        ids[row, : len(sequence)] = torch.tensor(sequence)
    with torch.inference_mode(), torch.autocast(model.device.type, torch.bfloat16, enabled=low_precision):
        output = model.base_model(input_ids=ids.to(model.device), use_cache=False).last_hidden_state
    hidden = output.to("cpu", torch.float16)
    return HiddenStates(
        hidden=torch.cat([hidden[row, : len(sequence)] for row, sequence in enumerate(sequences)]),
        tokens=torch.tensor([token for sequence in sequences for token in sequence]),
        lengths=torch.tensor([len(sequence) for sequence in sequences]),
        left=torch.tensor([count for conversation in conversations for count in conversation.left()]),
    )


def _groups(conversations: Sequence[Conversation], tokens: int) -> Iterator[list[Conversation]]:
    """Consecutive conversations of about `tokens` tokens, sorted by length within, at least one each."""
    group: list[Conversation] = []
    held = 0
    for conversation in conversations:
        if group and held + len(conversation.ids) > tokens:
            yield sorted(group, key=lambda one: len(one.ids))
            group, held = [], 0
        group.append(conversation)
        held += len(conversation.ids)
    if group:
        yield sorted(group, key=lambda one: len(one.ids))


def _key(conversation: Conversation) -> int:
    """Of the tokens alone: hidden states do not depend on who wrote them."""
    text = ",".join(map(str, conversation.ids)).encode()
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "big", signed=True)


def _shards(folder: Path) -> list[Path]:
    return sorted(folder.glob("hidden-*.safetensors"))


def _read(path: Path, names: Sequence[str]) -> list[Tensor]:
    try:
        with safe_open(path, framework="pt") as shard:
            return [shard.get_tensor(name) for name in names]
    except (OSError, SafetensorError) as error:
        raise MedusaError(f"{path} is damaged; delete it and resume the run.") from error


def _write(path: Path, states: HiddenStates, conversations: Sequence[Conversation]) -> None:
    """In one move, so that a killed run leaves no half shard. Who wrote what is not stored: the data says it."""
    temporary = path.with_suffix(".tmp")
    keys = torch.tensor([_key(conversation) for conversation in conversations], dtype=torch.int64)
    tensors = {"hidden": states.hidden, "tokens": states.tokens.int(), "lengths": states.lengths, "keys": keys}
    save_file(tensors, temporary)
    os.replace(temporary, path)
