"""What every peer's process does: load, say so, answer JSON lines until stdin ends.

Peers import nothing of medusa-chat but this file, so that what is measured is theirs alone.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

Answer = Callable[[Sequence[int], int, Sequence[int]], dict[str, Any]]
"""(prompt ids, most tokens, end ids) -> what `reply` gives; always greedy."""


def serve(parser: ArgumentParser, load: Callable[[Namespace], tuple[Answer, dict[str, Any]]]) -> None:
    """Load by the command line's arguments, then answer {"prompt_ids", "max_tokens", "eos_ids"} line by line.

    `load` returns the answering function and what the report should say about the peer (versions, precision).
    """
    # ctrl-c is for the process that started this one; it closes stdin.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    lines = _own_stdout()
    answer, about = load(parser.parse_args())
    _say(lines, {"ready": True, "about": about})
    for line in sys.stdin:
        request = json.loads(line)
        given = answer(request["prompt_ids"], request["max_tokens"], request["eos_ids"])
        _say(lines, {**given, "peak_bytes": peak_bytes()})


def reply(
    tokens: Sequence[int],
    eos_ids: Sequence[int],
    *,
    with_prompt: int,
    steps: int,
    seconds: float,
    prefill_seconds: float,
) -> dict[str, Any]:
    """One answer, cut behind its first end token.

    Args:
        with_prompt: tokens that were there when the prompt had been read; `seconds` does not cover them.
        steps: forward passes that `seconds` covers.
    """
    end = next((place for place, token in enumerate(tokens, 1) if token in eos_ids), len(tokens))
    return {
        "tokens": list(tokens[:end]),
        "decoded": max(end - with_prompt, 0),
        "steps": steps,
        "seconds": seconds,
        "prefill_seconds": prefill_seconds,
    }


def peak_bytes() -> int | None:
    """Most memory this process has held, in bytes.

    Linux is asked for the value that starts anew with the program: getrusage also counts what the process that started
    this one held.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return None


def _own_stdout() -> IO[str]:
    """The stream of replies; whatever else is printed, by libraries in C too, goes to stderr from here on."""
    sys.stdout.flush()
    lines = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return lines


def _say(lines: IO[str], message: dict[str, Any]) -> None:
    lines.write(json.dumps(message) + "\n")
    lines.flush()
