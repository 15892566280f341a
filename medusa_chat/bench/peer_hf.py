"""The peer `hf`: transformers' own generate on the same weights, in this process alone.

Reads requests as JSON lines on stdin, writes one JSON line each on stdout: see `serve`.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Sequence
from itertools import takewhile
from time import perf_counter
from typing import Any

import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, GenerationConfig, PreTrainedModel
from transformers.generation.streamers import BaseStreamer
from transformers.utils import logging


class Stopwatch(BaseStreamer):
    """Notes when each new token was there; the first call brings the prompt."""

    def __init__(self) -> None:
        self.stamps: list[float] = []

    def put(self, value: Tensor) -> None:
        self.stamps.append(perf_counter())

    def end(self) -> None:
        pass


def generate(
    model: PreTrainedModel, prompt_ids: Sequence[int], max_tokens: int, eos_ids: Sequence[int]
) -> dict[str, Any]:
    """One greedy answer.

    Returns its tokens, cut behind the end token, and the seconds up to the first token (`prefill_seconds`) and from
    there to the last (`seconds`, covering `decoded` tokens and as many forward passes).
    """
    # Everything is said here: what the model's own generation config says (penalties, sampling) must not leak in.
    model.generation_config = GenerationConfig()  # type: ignore[no-untyped-call]
    settings = GenerationConfig(  # type: ignore[no-untyped-call]
        do_sample=False,
        num_beams=1,
        max_new_tokens=max_tokens,
        repetition_penalty=1.0,
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
    first, *rest = watch.stamps[1:]
    tokens = _cut(output[0, len(prompt_ids) :].tolist(), eos_ids)
    return {
        "tokens": tokens,
        "decoded": len(tokens) - 1,
        "seconds": rest[-1] - first if rest else 0.0,
        "prefill_seconds": first - began,
    }


def _cut(tokens: list[int], eos_ids: Sequence[int]) -> list[int]:
    kept = list(takewhile(lambda token: token not in eos_ids, tokens))
    return tokens[: len(kept) + 1]


def serve(model: PreTrainedModel) -> None:
    """Answer requests {"prompt_ids", "max_tokens", "eos_ids"} until stdin ends."""
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(generate(model, request["prompt_ids"], request["max_tokens"], request["eos_ids"])), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--threads", type=int, required=True)
    arguments = parser.parse_args()
    # ctrl-c is for the process that started this one; it closes stdin.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(arguments.threads)
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(arguments.folder, dtype=torch.float32)
    model.eval()  # type: ignore[no-untyped-call]
    serve(model)


if __name__ == "__main__":
    main()
