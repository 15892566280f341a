"""The pseudo-terminal, the made-up archive, and the figures; what the app itself does is measured, not tested."""

from __future__ import annotations

import sys

import pytest

from medusa_chat.bench.archive import fill
from medusa_chat.bench.screen import Archive, FirstPaint, Streaming
from medusa_chat.bench.terminal import Terminal
from medusa_chat.chats import conversations, messages
from medusa_chat.chats.database import Database
from medusa_chat.chats.search import search

unix = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are a Unix thing")

ECHO = """
import os, sys, tty
tty.setraw(0)
print(os.get_terminal_size(), flush=True)
while (key := os.read(0, 1)) != b"q":
    os.write(1, b"<" + key.upper() + b">")
"""


@unix
def test_a_key_is_seen_and_what_was_there_before_is_not():
    terminal = Terminal([sys.executable, "-c", ECHO], {}, "lines=40")
    try:
        start = terminal.start(30.0)
        assert start is not None
        first = terminal.press("a", "<A>", 30.0)
        assert first is not None
        assert 0.0 <= first < 30.0
        assert terminal.press("b", "<A>", 0.2) is None
        assert terminal.running
    finally:
        terminal.close()
    assert not terminal.running


@unix
def test_a_program_that_ends_is_not_waited_for():
    terminal = Terminal([sys.executable, "-c", ECHO], {}, "lines=40")
    try:
        assert terminal.start(30.0) is not None
        # Longer than a test may take.
        assert terminal.press("q", "never", 3_600.0) is None
        assert not terminal.running
    finally:
        terminal.close()


def test_an_archive_has_its_signs_where_they_are_looked_for(tmp_path):
    path = tmp_path / "data" / "chats.db"
    fill(path, 12, 3, ("Ѧ", "Ѭ"), "seahorse")
    db = Database(path)
    listed = conversations.newest(db, 100)
    assert len(listed) == 12
    assert listed[0].title.startswith("Ѧ")
    (hit,) = search(db, "seahorse", 100)
    assert hit.conversation.title.startswith("Ѭ")
    assert len(messages.branch(db, hit.conversation.id)) == 6
    db.close()


def test_figures():
    seen = {"cpu_seconds": 3.0, "seconds": 10.0, "tokens": 4800}
    streamed = Streaming(200, tuple(n / 1000 for n in range(1, 201)), 0, seen)
    assert (streamed.core_share, streamed.tokens_per_second) == (0.3, 480.0)
    assert (streamed.key_percentile(50), streamed.key_percentile(99)) == (0.101, 0.199)
    assert Streaming(200, (0.5,), 0, seen).key_percentile(99) == 0.5
    assert FirstPaint((0.9, 0.5, 0.6), ()).median_seconds == 0.6
    assert Archive(1, 2, (0.1,), (0.2,)).messages == 2
