"""The screen must appear before anything heavy is imported, and so must never import it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from doubles.scripted_engine import ScriptedEngine

from medusa_chat.engine.errors import MedusaError
from medusa_chat.tui.app import MedusaChatApp
from medusa_chat.tui.launch import launch


def test_the_screen_knows_neither_torch_nor_transformers():
    code = (
        "import sys, medusa_chat.tui.app, medusa_chat.tui.launch, medusa_chat.host.client\n"
        "print([name for name in ('torch', 'transformers', 'numpy', 'safetensors') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_without_a_terminal_it_says_what_to_do_instead():
    with pytest.raises(MedusaError, match="medusa-chat run"):
        launch("tiny")


async def test_a_fault_of_the_app_is_handed_on_without_a_traceback(capfd):
    class Faulty(ScriptedEngine):
        def drain(self):
            raise RuntimeError("a fault [/x]")

    app = MedusaChatApp(Faulty(), "tiny")
    await app.run_async(headless=True, size=(80, 24))
    assert isinstance(app.fault, RuntimeError)
    assert "Traceback" not in "".join(capfd.readouterr())
