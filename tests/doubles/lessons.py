"""Stand-ins for `medusa-chat learn`: processes that say what a test wants, at once or never."""

from __future__ import annotations

import json
import sys
from typing import Any

BETTER = {
    "event": "learned",
    "answers": 84,
    "held_out": 9,
    "before": 2.2212,
    "after": 2.3051,
    "nodes": 16,
    "used": True,
}
WORSE = {**BETTER, "after": 2.2, "used": False}


def says(row: Any) -> list[str]:
    return [sys.executable, "-c", f"print({json.dumps(row)!r})"]


def fails(sentence: str) -> list[str]:
    return [
        sys.executable,
        "-c",
        f"import sys; print('warning: old', file=sys.stderr); sys.exit({'medusa-chat: ' + sentence!r})",
    ]


def lasts() -> list[str]:
    """Until it is ended."""
    return [sys.executable, "-c", "import time; time.sleep(600)"]
