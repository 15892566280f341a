"""The peers `hf` and `hf-lookup`: transformers' own generate on the same weights, the latter with its prompt lookup."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from functools import partial
from time import perf_counter
from typing import Any

import torch
import transformers
from torch import Tensor
from transformers import AutoModelForCausalLM, GenerationConfig, PreTrainedModel
from transformers.generation.streamers import BaseStreamer
from transformers.utils import logging

from medusa_chat.bench.peer_serving import Answer, reply, serve


class Stopwatch(BaseStreamer):
    """Notes when new tokens were there and how many: one call brings the prompt, then one what each pass yielded."""

    def __init__(self) -> None:
        self.stamps: list[tuple[float, int]] = []

    def put(self, value: Tensor) -> None:
        self.stamps.append((perf_counter(), value.numel()))

    def end(self) -> None:
        pass


def generate(
    model: PreTrainedModel,
    prompt_ids: Sequence[int],
    max_tokens: int,
    eos_ids: Sequence[int],
    lookup: int | None = None,
) -> dict[str, Any]:
    """One greedy answer; `lookup` is the most tokens that prompt lookup proposes in a step, None for plain decoding."""
    # Everything is said here: what the model's own generation config says (penalties, sampling) must not leak in.
    model.generation_config = GenerationConfig()  # type: ignore[no-untyped-call]
    settings = GenerationConfig(  # type: ignore[no-untyped-call]
        do_sample=False,
        num_beams=1,
        max_new_tokens=max_tokens,
        repetition_penalty=1.0,
        prompt_lookup_num_tokens=lookup,
        eos_token_id=list(eos_ids) or None,
        pad_token_id=eos_ids[0] if eos_ids else 0,
        use_cache=True,
    )
    ids = torch.tensor([list(prompt_ids)])
    watch = Stopwatch()
    began = perf_counter()
    with torch.inference_mode():
        output: Tensor = model.generate(  # type: ignore[operator]
            ids,
            attention_mask=torch.ones_like(ids),
            generation_config=settings,
            streamer=watch,
        )
    (first, with_prompt), *rest = watch.stamps[1:]
    return reply(
        output[0, len(prompt_ids) :].tolist(),
        eos_ids,
        with_prompt=with_prompt,
        steps=len(rest),
        seconds=rest[-1][0] - first if rest else 0.0,
        prefill_seconds=first - began,
    )


def load(arguments: Namespace) -> tuple[Answer, dict[str, Any]]:
    torch.set_num_threads(arguments.threads)
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(arguments.weights, dtype=torch.float32)
    model.eval()  # type: ignore[no-untyped-call]
    about = {"transformers": transformers.__version__, "precision": "float32", "lookup": arguments.lookup}
    return partial(generate, model, lookup=arguments.lookup), about


def main() -> None:
    parser = ArgumentParser()
    parser.add_argument("--weights", required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--lookup", type=int)
    serve(parser, load)


if __name__ == "__main__":
    main()
