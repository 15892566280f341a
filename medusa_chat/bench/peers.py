"""Peers as contestants: each in a process of its own, spoken to in JSON lines."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from medusa_chat.bench.timed import Timed
from medusa_chat.engine.errors import MedusaError
from medusa_chat.settings.paths import log_file

PEERS = {"hf": "medusa_chat.bench.peer_hf"}
"""Name -> module that is run. It prints {"ready": true} once loaded, then answers every line with one line."""


class Peer:
    """A running peer; a context manager that ends its process."""

    def __init__(self, name: str, folder: Path, threads: int, eos_ids: Collection[int]) -> None:
        """Start the process and wait until it has loaded the model in `folder`.

        Raises:
            MedusaError: it ended before it was ready.
        """
        self.name = name
        self._eos_ids = sorted(eos_ids)
        command = [sys.executable, "-m", PEERS[name], str(folder), "--threads", str(threads)]
        with log_file().open("a", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
            )
        self._read()

    def answer(self, prompt_ids: Sequence[int], max_tokens: int) -> Timed:
        request = {"prompt_ids": list(prompt_ids), "max_tokens": max_tokens, "eos_ids": self._eos_ids}
        try:
            _pipe(self._process.stdin).write(json.dumps(request) + "\n")
            _pipe(self._process.stdin).flush()
        except OSError as error:
            raise self._died() from error
        reply = self._read()
        return Timed(
            tuple(reply["tokens"]), reply["decoded"], reply["decoded"], reply["seconds"], reply["prefill_seconds"]
        )

    def __enter__(self) -> Peer:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def _read(self) -> dict[str, Any]:
        line = _pipe(self._process.stdout).readline()
        if not line:
            raise self._died()
        reply: dict[str, Any] = json.loads(line)
        return reply

    def _died(self) -> MedusaError:
        code = self._process.wait()
        return MedusaError(
            f"The peer {self.name} ended with code {code}; leave out --peer {self.name}, or free memory; "
            f"the details are in {log_file()}."
        )


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe
