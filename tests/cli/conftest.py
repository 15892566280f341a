"""The command line as a script calls it."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from doubles.tiny_models import save_tiny_model

from medusa_chat.cli.outcome import run


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


Medusa = Callable[..., Ended]


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of a random model with three fresh heads."""
    return str(save_tiny_model(tmp_path_factory.mktemp("models") / "tiny", heads=3))


@pytest.fixture(scope="session")
def headless_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of a random model without heads."""
    return str(save_tiny_model(tmp_path_factory.mktemp("models") / "headless"))


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEDUSA_CHAT_HOME", str(tmp_path / "home"))


@pytest.fixture
def medusa(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Medusa:
    """Runs a command in this process."""

    def call(*arguments: str, stdin: bytes = b"") -> Ended:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        capsys.readouterr()
        code = run(arguments)
        return Ended(code, *capsys.readouterr())

    return call


@pytest.fixture
def start(tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """Starts a command in a process of its own."""

    def launch(*arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "medusa_chat", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "MEDUSA_CHAT_HOME": str(tmp_path / "home")},
        )

    return launch
