"""The search for garbage leaves alone what is there when the app begins (in a process of its own, for it is for good); and
little is left for it."""

from __future__ import annotations

import subprocess
import sys

from textual.app import App, ComposeResult
from textual.containers import VerticalGroup
from textual.widgets import Static

from medusa_chat.tui.garbage import let_go

CODE = """
import gc
from medusa_chat.tui.garbage import THRESHOLDS, search_rarely
search_rarely()
assert gc.isenabled() and gc.get_threshold() == THRESHOLDS
assert gc.get_freeze_count() > 1000
class Ring: pass
ring = Ring(); ring.self = ring; del ring
gc.collect()
assert not any(isinstance(each, Ring) for each in gc.get_objects())
"""

UNCUT = """
import gc
from rich.segment import Segment
from textual.strip import Strip
from medusa_chat.tui.garbage import search_rarely
search_rarely()
gc.disable()
def rows(): return sum(isinstance(each, Strip) for each in gc.get_objects())
row = Strip([Segment("seventeen letters")], 17)
assert [part.text for part in row.divide([9, 17])] == ["seventeen", " letters"]
assert row.divide(iter([17])) == [row] == row.divide([17, 20])
assert rows() == 3
del row
assert rows() == 0
"""


def test_rows_of_a_frame_go_without_a_search():
    subprocess.run([sys.executable, "-c", UNCUT], check=True)


def test_what_is_there_is_never_searched_again_and_new_garbage_is_still_found():
    subprocess.run([sys.executable, "-c", CODE], check=True)


async def test_widgets_that_were_let_go_have_forgotten_what_they_drew():
    class Two(App[None]):
        def compose(self) -> ComposeResult:
            yield VerticalGroup(Static("old"), id="gone")
            yield Static("new", id="kept")

    async with Two().run_test() as pilot:
        gone, kept = pilot.app.query_one("#gone"), pilot.app.query_one("#kept")
        old = gone.query_one(Static)
        await pilot.pause()
        assert all(map(drawn_by, (old, kept)))
        await let_go([gone])
        assert (gone.is_attached, kept.is_attached) == (False, True)
        assert [bool(drawn_by(each)) for each in (gone, old, kept)] == [False, False, True]
        await let_go([])


def drawn_by(widget):
    return widget._styles_cache._cache
