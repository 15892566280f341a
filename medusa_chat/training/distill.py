"""Self-distillation: the backbone itself answers given prompts, so that heads learn what it would really say.

Heads trained on other models' text start lower, because they are asked to foresee words the backbone never says
(Medusa paper, section 2.3.2 "self-distillation"; FasterDecoding/Medusa issues 79 and 85).
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import PreTrainedModel

from medusa_chat.engine.errors import MedusaError
from medusa_chat.training.answers import Answer, read_answers
from medusa_chat.training.batched import answer_batch


@dataclass(frozen=True, slots=True)
class Distillation:
    """How answers are made."""

    max_tokens: int = 220
    batch: int = 32
    temperature: float = 0.7
    greedy_share: float = 0.5
    """Share of prompts answered greedily; the others are sampled at `temperature`."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """After each finished answer."""

    answers: int
    """Written so far, those of earlier runs included."""
    of: int
    tokens: int
    """Answer tokens made in this run."""


def read_prompts(path: Path) -> list[str]:
    """The "prompt" of every JSONL row.

    Raises:
        MedusaError: the file cannot be read, is empty, or a row has no prompt.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise MedusaError(f"{path} cannot be read as a file of prompts ({error}).") from error
    prompts = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            prompt = json.loads(line)["prompt"]
        except (ValueError, KeyError, TypeError) as error:
            raise MedusaError(
                f'{path}, line {number}, is not a prompt: each line needs {{"prompt": "..."}}.'
            ) from error
        if not isinstance(prompt, str) or not prompt.strip():
            raise MedusaError(f"{path}, line {number}, has an empty prompt.")
        prompts.append(prompt)
    if not prompts:
        raise MedusaError(f"{path} holds no prompts.")
    return prompts


def distill(
    model: PreTrainedModel,
    eos_ids: frozenset[int],
    prompts: Sequence[Sequence[int]],
    out: Path,
    how: Distillation,
    context: int,
    on_progress: Callable[[Progress], None] | None = None,
) -> Progress:
    """Append the backbone's answers to rendered prompts to `out`; prompts it already answers are passed over.

    Prompts that leave no room for `max_tokens` in the context are left out. A killed run loses at most the answers of
    the batch in progress; the same command goes on where it stopped.
    """
    distinct = [prompt for prompt in dict.fromkeys(map(tuple, prompts)) if len(prompt) + how.max_tokens <= context]
    answered = _answered(out)
    todo = [prompt for prompt in distinct if prompt not in answered]
    done = len(distinct) - len(todo)
    tokens = 0
    generator = torch.Generator(device=model.device).manual_seed(how.seed + done)
    with out.open("a", encoding="utf-8") as file, torch.inference_mode():
        for batch in batches(todo, how.batch, how.seed):
            heat = [0.0 if is_greedy(prompt, how) else how.temperature for prompt in batch]
            for finished in answer_batch(model, batch, heat, how.max_tokens, eos_ids, generator):
                answer = Answer(batch[finished.row], finished.answer_ids, sampled=heat[finished.row] > 0)
                file.write(answer.to_json() + "\n")
                file.flush()
                done += 1
                tokens += len(finished.answer_ids)
                if on_progress is not None:
                    on_progress(Progress(done, len(distinct), tokens))
    return Progress(done, len(distinct), tokens)


def is_greedy(prompt: Sequence[int], how: Distillation) -> bool:
    """Decided by prompt and seed, so that a resumed run makes the same choice."""
    return random.Random(f"{how.seed}:{list(prompt)}").random() < how.greedy_share


def batches(prompts: Sequence[tuple[int, ...]], size: int, seed: int) -> Iterator[list[tuple[int, ...]]]:
    """Prompts of like length together (little padding), the batches themselves in random order (no bias when stopped)."""
    ordered = sorted(prompts, key=len)
    chunks = [ordered[start : start + size] for start in range(0, len(ordered), size)]
    random.Random(seed).shuffle(chunks)
    yield from chunks


def _answered(out: Path) -> set[tuple[int, ...]]:
    """Prompts with an answer in `out`, after a broken last line (a killed run) was cut off."""
    if not out.exists():
        return set()
    raw = out.read_bytes()
    whole = raw[: raw.rfind(b"\n") + 1]
    if whole != raw:
        out.write_bytes(whole)
    return {answer.prompt_ids for answer in read_answers(out)}
