"""The engine's process around a fake model: `python fake_child.py` in place of `python -m medusa_chat.host.child`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from doubles.fake_session import FakeSession

from medusa_chat.host.child import main

main(FakeSession)
