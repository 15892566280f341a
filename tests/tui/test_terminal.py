"""One run in a real terminal: it comes up, obeys keys, and leaves the terminal as it was."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

pexpect = pytest.importorskip("pexpect", reason="a pseudo-terminal needs pexpect")

CODE = """
from doubles.scripted_engine import ScriptedEngine
from medusa_chat.tui.app import MedusaChatApp
MedusaChatApp(ScriptedEngine("Paris it is.", instant=True), "tiny").run()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are a Unix thing")
def test_it_runs_in_a_terminal_and_leaves_it_intact(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    monkeypatch.setenv("TERM", "xterm-256color")
    child = pexpect.spawn(sys.executable, ["-c", CODE], dimensions=(24, 80), encoding="utf-8", timeout=60)
    child.expect("enter sends")
    child.send("Capital of France?\r")
    child.expect("Paris")
    child.expect("complete")
    child.send("\x11")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert "\x1b[?1049l" in child.before
    assert child.before.rindex("\x1b[?25h") > child.before.rfind("\x1b[?25l")


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are a Unix thing")
def test_without_colours_none_is_sent_to_the_terminal(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", "1")
    child = pexpect.spawn(sys.executable, ["-c", CODE], dimensions=(40, 120), encoding="utf-8", timeout=60)
    child.expect("enter sends")
    before = child.before
    child.send("Capital of France?\r")
    child.expect("complete")
    codes = [code for sgr in re.findall(r"\x1b\[([\d;]*)m", before + child.before) for code in sgr.split(";")]
    child.send("\x11")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert set(codes) <= {"", "0", *"1234579", "39", "49"}
    assert "1" in codes


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are a Unix thing")
def test_a_walk_by_real_keys_through_palette_help_and_models(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    monkeypatch.setenv("TERM", "xterm-256color")
    child = pexpect.spawn(sys.executable, ["-c", CODE], dimensions=(40, 120), encoding="utf-8", timeout=60)
    child.expect("enter sends")
    child.send("Capital of France?\r")
    child.expect("complete")
    child.send("\x10")
    child.expect("Search for commands")
    child.send("models")
    child.expect("Models: what is here")
    child.send("\x1b[B\r")
    child.expect("original weights")
    child.send("jk?")
    child.expect("Bring its weights here")
    child.send("q")
    child.send("\x1b[23~")
    child.expect("Capital of France")
    child.send("\x11")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert "\x1b[?1049l" in child.before
