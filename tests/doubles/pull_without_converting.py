"""The pull's own process, but for the conversion, which needs torch: `python -m doubles.pull_without_converting NAME`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from time import sleep

from medusa_chat.catalog import download, pull_child, wheel

COMMAND = (sys.executable, "-m", "doubles.pull_without_converting")

LINGERS = b"lingers"
"""The conversion of a file that begins so goes on until it is interrupted."""


def _convert(gguf: Path, folder: Path, on_progress: Callable[[str, float | None], None]) -> None:
    on_progress("reading the weights", 0.5)
    while gguf.read_bytes().startswith(LINGERS):
        sleep(0.01)
    folder.mkdir()
    (folder / "config.json").write_text("{}")


if __name__ == "__main__":
    download.PAUSES = (0.0, 0.0)
    wheel.convert = _convert
    sys.exit(pull_child.main(sys.argv[1:]))
