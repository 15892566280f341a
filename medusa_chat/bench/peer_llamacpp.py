"""The peers `llamacpp` and `llamacpp-ngram`: llama.cpp (by xllamacpp) on a GGUF file, the latter with n-gram speculation.

Of its kinds of speculation by n-grams the simple one is taken, with its defaults: it proposes what followed the last
place with the same n-gram, as prompt lookup does.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener

import xllamacpp

from medusa_chat.bench.peer_serving import Answer, reply, serve

MILLISECONDS = 1e-3
WARNINGS = 2
"""Of llama.cpp's levels of talk the one that leaves out what it says about each answer."""


class Llamacpp:
    """A server of llama.cpp inside this process, asked over the loopback: only its own interface takes and gives ids."""

    def __init__(self, gguf: str, threads: int, *, ngram: bool) -> None:
        params = xllamacpp.CommonParams()
        params.model.path = gguf
        params.n_ctx = 0  # as the model says
        params.n_parallel = 1
        params.cpuparams.n_threads = threads
        params.cpuparams_batch.n_threads = threads
        params.cache_ram_mib = 0
        params.verbosity = WARNINGS
        if ngram:
            params.speculative.types = [xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE]
        self._server = xllamacpp.Server(params)
        self._address = f"{self._server.listening_address}/completion"
        # No proxy of the environment stands between a process and itself.
        self._opener = build_opener(ProxyHandler({}))
        self._last: list[int] = []

    def answer(self, prompt_ids: Sequence[int], max_tokens: int, eos_ids: Sequence[int]) -> dict[str, Any]:
        """Times are llama.cpp's own; its clock for decoding starts when the first token is there."""
        # What the cache holds of this very conversation counts, what other questions left there does not.
        known = len(self._last)
        goes_on = 0 < known < len(prompt_ids) and list(prompt_ids[:known]) == self._last
        self._last = list(prompt_ids)
        done = self._ask(
            {
                "prompt": list(prompt_ids),
                "n_predict": max_tokens,
                "return_tokens": True,
                "cache_prompt": goes_on,
                "temperature": 0.0,
                "samplers": ["temperature"],
            }
        )
        times, tokens = done["timings"], done["tokens"]
        return reply(
            tokens,
            eos_ids,
            with_prompt=1,
            steps=len(tokens) - 1 - times.get("draft_n_accepted", 0),
            seconds=times["predicted_ms"] * MILLISECONDS if len(tokens) > 1 else 0.0,
            prefill_seconds=times["prompt_ms"] * MILLISECONDS,
        )

    def _ask(self, body: dict[str, Any]) -> dict[str, Any]:
        request = Request(self._address, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with self._opener.open(request) as response:
            done: dict[str, Any] = json.load(response)
        return done


def load(arguments: Namespace) -> tuple[Answer, dict[str, Any]]:
    llamacpp = Llamacpp(arguments.gguf, arguments.threads, ngram=arguments.ngram)
    about = {"xllamacpp": version("xllamacpp"), "gguf": arguments.gguf, "ngram": arguments.ngram}
    return llamacpp.answer, about


def main() -> None:
    parser = ArgumentParser()
    parser.add_argument("--gguf", required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--ngram", action="store_true")
    serve(parser, load)


if __name__ == "__main__":
    main()
