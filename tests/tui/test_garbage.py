"""The search for garbage leaves alone what is there when the app begins; in a process of its own, for it is for good."""

from __future__ import annotations

import subprocess
import sys

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


def test_what_is_there_is_never_searched_again_and_new_garbage_is_still_found():
    subprocess.run([sys.executable, "-c", CODE], check=True)
