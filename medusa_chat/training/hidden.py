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
from medusa_chat.training.answers import Answer

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
    """[conversations] int64: tokens of each conversation, prompt and answer."""
    prompts: Tensor
    """[conversations] int64: tokens of its prompt."""

    @classmethod
    def join(cls, parts: Sequence[HiddenStates]) -> HiddenStates:
        return cls(
            *(torch.cat([getattr(part, name) for part in parts]) for name in ("hidden", "tokens", "lengths", "prompts"))
        )


def compute(
    model: PreTrainedModel,
    answers: Sequence[Answer],
    folder: Path,
    *,
    low_precision: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> None:
    """Write the hidden states of all answers that `folder` does not hold yet, shard by shard.

    Args:
        low_precision: multiply in bfloat16 (weights and sums stay in the model's own type); several times faster on
            CPUs with bfloat16 instructions, hidden states off by about one per cent.
        on_progress: called with tokens done and tokens in all after every batch.
    """
    folder.mkdir(parents=True, exist_ok=True)
    present = {key for shard in _shards(folder) for key in _read(shard, ["keys"])[0].tolist()}
    todo = [answer for answer in answers if _key(answer) not in present]
    total = sum(len(answer.prompt_ids) + len(answer.answer_ids) for answer in answers)
    done = total - sum(len(answer.prompt_ids) + len(answer.answer_ids) for answer in todo)
    number = len(_shards(folder))
    for shard in _groups(todo, SHARD_TOKENS):
        parts = []
        for batch in _groups(shard, BATCH_TOKENS):
            parts.append(_forward(model, batch, low_precision))
            done += int(parts[-1].lengths.sum())
            if on_progress is not None:
                on_progress(done, total)
        keys = torch.tensor([_key(answer) for answer in shard], dtype=torch.int64)
        _write(folder / f"hidden-{number:05d}.safetensors", HiddenStates.join(parts), keys)
        number += 1


def load(folder: Path, answers: Sequence[Answer]) -> HiddenStates:
    """The hidden states of exactly these answers, whatever else the folder holds.

    Raises:
        MedusaError: some were never computed, or a shard is damaged.
    """
    wanted = {_key(answer) for answer in answers}
    found: set[int] = set()
    parts = []
    for path in _shards(folder):
        keys, *tensors = _read(path, ["keys", *HiddenStates.__slots__])
        states = HiddenStates(*tensors)
        lengths = states.lengths.tolist()
        pieces = zip(
            keys.tolist(),
            torch.split(states.hidden, lengths),
            torch.split(states.tokens, lengths),
            states.lengths,
            states.prompts,
            strict=True,
        )
        for key, hidden, tokens, length, prompt in pieces:
            if key in wanted and key not in found:
                found.add(key)
                parts.append(HiddenStates(hidden, tokens.long(), length[None].long(), prompt[None].long()))
    if found != wanted:
        raise MedusaError(f"{folder} lacks the hidden states of {len(wanted - found)} answers; train with --resume.")
    return HiddenStates.join(parts)


def _forward(model: PreTrainedModel, answers: Sequence[Answer], low_precision: bool) -> HiddenStates:
    """One padded batch; pads on the right need no mask, because a causal model never looks right."""
    sequences = [answer.prompt_ids + answer.answer_ids for answer in answers]
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
        prompts=torch.tensor([len(answer.prompt_ids) for answer in answers]),
    )


def _groups(answers: Sequence[Answer], tokens: int) -> Iterator[list[Answer]]:
    """Consecutive answers of about `tokens` tokens, sorted by length within, at least one each."""
    group: list[Answer] = []
    held = 0
    for answer in answers:
        length = len(answer.prompt_ids) + len(answer.answer_ids)
        if group and held + length > tokens:
            yield sorted(group, key=lambda one: len(one.prompt_ids) + len(one.answer_ids))
            group, held = [], 0
        group.append(answer)
        held += length
    if group:
        yield sorted(group, key=lambda one: len(one.prompt_ids) + len(one.answer_ids))


def _key(answer: Answer) -> int:
    text = f"{list(answer.prompt_ids)}|{list(answer.answer_ids)}".encode()
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "big", signed=True)


def _shards(folder: Path) -> list[Path]:
    return sorted(folder.glob("hidden-*.safetensors"))


def _read(path: Path, names: Sequence[str]) -> list[Tensor]:
    try:
        with safe_open(path, framework="pt") as shard:
            return [shard.get_tensor(name) for name in names]
    except (OSError, SafetensorError) as error:
        raise MedusaError(f"{path} is damaged; delete it and start again with --resume.") from error


def _write(path: Path, states: HiddenStates, keys: Tensor) -> None:
    """In one move, so that a killed run leaves no half shard."""
    temporary = path.with_suffix(".tmp")
    tensors = {name: getattr(states, name) for name in HiddenStates.__slots__}
    save_file({**tensors, "tokens": states.tokens.int(), "keys": keys}, temporary)
    os.replace(temporary, path)
