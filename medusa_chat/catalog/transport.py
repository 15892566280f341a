"""Bytes from an http(s) or file address, from any offset: the one file of the catalog that speaks to a network."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit, urlunsplit
from urllib.request import url2pathname

import requests

CHUNK = 1 << 15
"""Bytes read at once; also the most a broken connection can lose."""
TIMEOUT = (15.0, 60.0)
"""Seconds to connect, and between two packets."""


class UnreachableError(Exception):
    """No answer, or a broken one; another try may succeed."""


class MissingError(Exception):
    """The place answered: it has no such thing, or refuses to give it."""


@dataclass(frozen=True, slots=True)
class Stream:
    start: int
    """Offset of the first byte; 0 when the server does not continue files."""
    chunks: Iterator[bytes]


def shown(address: str) -> str:
    """The address without a user's name and password."""
    parts = urlsplit(address)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])) if parts.scheme else address


def local_path(address: str) -> Path | None:
    """The path a file: address or a plain path names; None for addresses of a network."""
    parts = urlsplit(address)
    if parts.scheme == "file":
        return Path(url2pathname(parts.path))
    return None if re.match(r"[a-z][a-z0-9+.-]+://", address, re.IGNORECASE) else Path(address).expanduser()


class Transport:
    """Proxies and certificates come from the environment, as with every other tool; `certificates` overrides."""

    def __init__(self, certificates: str | None = None) -> None:
        self._session = requests.Session()
        if certificates:
            self._session.verify = certificates

    def page(self, address: str, accept: str) -> tuple[str, str, str]:
        """Body, content type and final address of a small page.

        Raises:
            UnreachableError, MissingError: as named.
        """
        path = local_path(address)
        if path is not None:
            return _local_page(path), "text/html", path.absolute().as_uri()
        with self._answer(address, {"Accept": accept}) as answer:
            return answer.text, answer.headers.get("Content-Type", ""), answer.url

    @contextmanager
    def stream(self, address: str, offset: int) -> Iterator[Stream]:
        """The file's bytes from `offset` on, or from 0 where the server only gives whole files.

        Raises:
            UnreachableError, MissingError: as named; UnreachableError also while the chunks are read.
        """
        path = local_path(address)
        if path is not None:
            try:
                file = path.open("rb")
            except OSError as error:
                raise MissingError(f"{path}: {error.strerror}") from error
            with file:
                file.seek(offset)
                yield Stream(offset, _file_chunks(file))
            return
        headers = {"Accept-Encoding": "identity"}
        if offset:
            headers["Range"] = f"bytes={offset}-"
        with self._answer(address, headers) as answer:
            continued = answer.status_code == 206 and answer.headers.get("Content-Range", "").startswith(
                f"bytes {offset}-"
            )
            yield Stream(offset if continued else 0, _answer_chunks(answer))

    @contextmanager
    def _answer(self, address: str, headers: dict[str, str]) -> Iterator[requests.Response]:
        try:
            answer = self._session.get(address, headers=headers, stream=True, timeout=TIMEOUT)
        except requests.RequestException as error:
            raise UnreachableError(f"{urlsplit(address).hostname} ({_cause(error)})") from error
        with answer:
            if answer.status_code >= 500 or answer.status_code == 429:
                raise UnreachableError(f"{urlsplit(address).hostname} (status {answer.status_code})")
            if answer.status_code >= 400:
                raise MissingError(f"{shown(address)}: status {answer.status_code}")
            yield answer


def _cause(error: requests.RequestException) -> str:
    if isinstance(error, requests.exceptions.SSLError):
        return "its certificate is not trusted"
    if isinstance(error, requests.exceptions.ProxyError):
        return "the proxy refused"
    if isinstance(error, requests.exceptions.Timeout):
        return "no answer in time"
    return "no connection"


def _local_page(path: Path) -> str:
    """An index page on disk, or a folder's own files as links."""
    try:
        if (path / "index.html").is_file():
            return (path / "index.html").read_text("utf-8")
        if path.is_dir():
            return "\n".join(f'<a href="{file.name}">{file.name}</a>' for file in path.iterdir() if file.is_file())
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise MissingError(f"{path}: {error}") from error


def _file_chunks(file: IO[bytes]) -> Iterator[bytes]:
    while chunk := file.read(CHUNK):
        yield chunk


def _answer_chunks(answer: requests.Response) -> Iterator[bytes]:
    try:
        yield from answer.iter_content(CHUNK)
    except requests.RequestException as error:
        raise UnreachableError(f"{urlsplit(answer.url).hostname} (the connection broke)") from error
