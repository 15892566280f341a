"""A file server on this machine that counts what it sends and can be told to misbehave."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Site:
    """What the server serves, how it misbehaves, and what it was asked."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    """Content types by path."""
    headers: dict[str, dict[str, str]] = field(default_factory=dict)
    """Further headers by path."""
    statuses: dict[str, int] = field(default_factory=dict)
    """Paths that answer with this status instead."""
    ranges: bool = True
    cut_after: list[int] = field(default_factory=list)
    """For each of the next answers above 1 kB: bytes after which the connection is cut."""
    stall_after: list[int] = field(default_factory=list)
    """For each of the next answers above 1 kB: bytes after which nothing more comes until `go_on`."""
    asked: list[tuple[str, str, str | None]] = field(default_factory=list)
    """Method, path and Range header."""
    sent: int = 0
    """Bytes of answers above 1 kB."""
    _going: threading.Event = field(default_factory=threading.Event)

    def go_on(self) -> None:
        self._going.set()

    def wait(self) -> None:
        self._going.wait()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    site: Site

    def do_GET(self) -> None:
        self._answer(body=True)

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def _answer(self, body: bool) -> None:
        path = self.path.partition("?")[0]
        self.site.asked.append((self.command, path, self.headers.get("Range")))
        content = self.site.files.get(path)
        status = self.site.statuses.get(path, 404 if content is None else 200)
        if content is None or status >= 400:
            self.send_response(status)
            self._send_headers(path, 0)
            return
        start = 0
        asked_range = self.headers.get("Range")
        if asked_range and self.site.ranges:
            first, _, last = asked_range.removeprefix("bytes=").partition("-")
            start, stop = int(first), int(last) + 1 if last else len(content)
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{stop - 1}/{len(content)}")
            content = content[start:stop]
        else:
            self.send_response(200)
        self._send_headers(path, len(content))
        if body:
            self._send(content)

    def _send_headers(self, path: str, length: int) -> None:
        self.send_header("Content-Length", str(length))
        self.send_header("Content-Type", self.site.kinds.get(path, "application/octet-stream"))
        for name, value in self.site.headers.get(path, {}).items():
            self.send_header(name, value)
        self.end_headers()

    def _send(self, content: bytes) -> None:
        if len(content) <= 1000:
            self.wfile.write(content)
            return
        if self.site.cut_after:
            content = content[: self.site.cut_after.pop(0)]
            self.close_connection = True
        if self.site.stall_after:
            held = self.site.stall_after.pop(0)
            self.wfile.write(content[:held])
            self.wfile.flush()
            self.site.wait()
            content = content[held:]
        with suppress(ConnectionError):  # whoever asked may have left meanwhile
            self.wfile.write(content)
            self.site.sent += len(content)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def running_site() -> Iterator[Site]:
    site = Site()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"site": site}))
    site.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield site
    finally:
        site.go_on()
        server.shutdown()
        server.server_close()
        thread.join()
