"""Messages between the screen's process and the engine's: one pickle after another over a pair of pipes.

The pipes are the child's stdin and stdout (which the child frees for this at once, see `child`): there is nothing to
listen on, nobody else can connect, both ends notice the other's death as an end of file, and it works the same on
every system.
"""

from __future__ import annotations

import pickle
from typing import IO, Any


class Channel:
    """One side of the conversation. Sending and receiving may happen in two threads, each in one only."""

    def __init__(self, incoming: IO[bytes], outgoing: IO[bytes]) -> None:
        self._incoming = incoming
        self._outgoing = outgoing

    def send(self, message: object) -> None:
        """Hand over a whole message.

        Raises:
            OSError: the other side is gone.
        """
        self._outgoing.write(pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL))
        self._outgoing.flush()

    def receive(self) -> Any:
        """Wait for the next message.

        Raises:
            EOFError: the other side is gone, perhaps in the middle of a message.
        """
        try:
            return pickle.load(self._incoming)
        except (OSError, ValueError, pickle.UnpicklingError) as error:
            raise EOFError("the other process is gone") from error
