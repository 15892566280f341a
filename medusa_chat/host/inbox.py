"""What the screen asked for, received while the model computes."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from medusa_chat.host.channel import Channel
from medusa_chat.host.messages import Request, Shutdown


class Inbox:
    """Requests in order. Received on a thread of its own, so that one sent during a step is there right after it."""

    def __init__(self, channel: Channel, at_end: Callable[[], None]) -> None:
        """`at_end` is called on the inbox's thread once the screen said goodbye or is gone."""
        self._channel = channel
        self._at_end = at_end
        self._waiting: deque[Request] = deque()
        self._arrived = threading.Condition()
        threading.Thread(target=self._receive, name="inbox", daemon=True).start()

    def wait(self) -> Request:
        """The next request, as soon as there is one; `Shutdown` when the screen is gone."""
        with self._arrived:
            self._arrived.wait_for(lambda: self._waiting)
            return self._waiting.popleft()

    def look(self) -> Request | None:
        """The next request if there is one already."""
        with self._arrived:
            return self._waiting.popleft() if self._waiting else None

    def keep(self, request: Request) -> None:
        """Put back a request just taken: it is the next one again."""
        with self._arrived:
            self._waiting.appendleft(request)

    def holds(self, *kinds: type[Request]) -> bool:
        """Whether a request of these kinds waits, anywhere in the queue."""
        with self._arrived:
            return any(isinstance(request, kinds) for request in self._waiting)

    def _receive(self) -> None:
        request: Request | None = None
        while not isinstance(request, Shutdown):
            try:
                request = self._channel.receive()
            except EOFError:
                request = Shutdown()
            with self._arrived:
                self._waiting.append(request)
                self._arrived.notify()
        self._at_end()
