"""A program in a pseudo-terminal: keys go in, and how long it takes until something is painted comes out."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from time import monotonic

from medusa_chat.engine.errors import MedusaError

COLUMNS, ROWS = 120, 40
_CHUNK = 1 << 16


class Terminal:
    """Reads all the time on a thread of its own, as a real terminal does, so the program never waits for it."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], sign: str) -> None:
        """
        Args:
            sign: text that tells that the program is up, for `start`.

        Raises:
            MedusaError: this system has no pseudo-terminals.
        """
        if sys.platform == "win32":
            raise MedusaError("The screen is measured in a pseudo-terminal, and Windows has none: use Linux or macOS.")
        import fcntl
        import pty
        import termios

        self._file, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self._news = threading.Condition()
        self._painted = b""
        self._sign: bytes | None = sign.encode()
        self._seen = 0.0
        self._ended = False
        self.began = monotonic()
        self._process = subprocess.Popen(
            list(command),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", **environment},
            start_new_session=True,
        )
        os.close(theirs)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def running(self) -> bool:
        return not self._ended

    def press(self, keys: str, sign: str, seconds: float) -> float | None:
        """Type, and wait for a text on the screen that was not there before.

        Returns:
            Seconds between the key and the text; None if it does not come in time, or the program ends.
        """
        with self._news:
            self._sign, self._painted = sign.encode(), b""
        pressed = monotonic()
        with suppress(OSError):  # it has just ended
            os.write(self._file, keys.encode())
        return self._wait(pressed, seconds)

    def start(self, seconds: float) -> float | None:
        """As `press`, for the start of the program itself."""
        return self._wait(self.began, seconds)

    def close(self) -> None:
        """End the program if it is still there."""
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(10)
        os.close(self._file)

    def _wait(self, since: float, seconds: float) -> float | None:
        with self._news:
            seen = self._news.wait_for(lambda: self._sign is None or self._ended, seconds)
            return self._seen - since if seen and self._sign is None else None

    def _read(self) -> None:
        while True:
            try:
                chunk = os.read(self._file, _CHUNK)
            except OSError:
                chunk = b""
            with self._news:
                self._take(chunk)
                if not chunk:
                    self._ended = True
                    self._news.notify_all()
                    return

    def _take(self, chunk: bytes) -> None:
        if self._sign is None:
            return
        self._painted += chunk
        if self._sign in self._painted:
            self._sign, self._seen = None, monotonic()
            self._news.notify_all()
        # A sign may arrive in two pieces.
        self._painted = self._painted[-_CHUNK:]
