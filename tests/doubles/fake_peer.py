"""A peer that gives the prompt back, backwards, in steps of two tokens; it chatters, and dies when told to.

Run as a module of its own: python -m doubles.fake_peer
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Any

from medusa_chat.bench.peer_serving import Answer, reply, serve

DEADLY = 13
"""An answer of so many tokens ends the process."""


def answer(prompt_ids: Sequence[int], max_tokens: int, eos_ids: Sequence[int]) -> dict[str, Any]:
    print("chatter on stdout")
    os.system("echo chatter of a child")
    if max_tokens == DEADLY:
        os._exit(3)
    tokens = list(prompt_ids)[::-1][:max_tokens]
    steps = -(-(len(tokens) - 1) // 2)
    return reply(tokens, eos_ids, with_prompt=1, steps=steps, seconds=0.5, prefill_seconds=0.25)


def load(arguments: Namespace) -> tuple[Answer, dict[str, Any]]:
    print("chatter while loading")
    return answer, {"threads": arguments.threads, "weights": arguments.weights}


if __name__ == "__main__":
    parser = ArgumentParser()
    parser.add_argument("--weights")
    parser.add_argument("--threads", type=int)
    serve(parser, load)
