"""What answering `--help` and `--version` costs: only what they need is imported."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from medusa_chat import __version__
from medusa_chat.cli.main import COMMANDS

HEAVY = {"torch", "transformers", "textual", "bitsandbytes", "numpy", "rich", "huggingface_hub", "psutil"}

PROBE = """
import json, sys
sys.argv[0] = "medusa-chat"
from medusa_chat.__main__ import main
try:
    main()
finally:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def probe(*arguments: str) -> tuple[str, set[str]]:
    done = subprocess.run([sys.executable, "-c", PROBE, *arguments], capture_output=True, text=True, check=True)
    return done.stdout, set(json.loads(done.stderr))


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["-h"]])
def test_help_and_version_import_nothing_heavy_and_no_command(arguments: list[str]) -> None:
    _, modules = probe(*arguments)
    commands = {entry.target.partition(":")[0] for entry in COMMANDS.values()}
    assert not modules & (HEAVY | commands)
    assert {name for name in modules if name.startswith("medusa_chat.") and "cli" not in name} <= {
        "medusa_chat.__main__",
        "medusa_chat.engine",
        "medusa_chat.engine.errors",
        "medusa_chat.engine.text",
        "medusa_chat.engine.text.harmless",
    }


@pytest.mark.parametrize("command", ["run", "compare", "bench", "doctor", "models"])
def test_the_help_of_a_command_imports_no_model_library(command: str) -> None:
    text, modules = probe(command, "--help")
    assert text.startswith(f"Usage: medusa-chat {command}")
    assert not modules & {"torch", "transformers", "textual"}


def test_help_lists_every_command_with_its_line() -> None:
    text, _ = probe("--help")
    for name, entry in COMMANDS.items():
        assert name in text
        assert entry.help in text


def test_version_answers() -> None:
    text, _ = probe("--version")
    assert text == f"medusa-chat {__version__}\n"


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_of_the_table_can_be_loaded_and_keeps_its_name(name: str) -> None:
    assert COMMANDS[name].load().name == name
