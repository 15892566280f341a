"""One file, fetched whole or continued, and only trusted once its hash is right."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from pathlib import Path

from medusa_chat.catalog.transport import MissingError, Transport, UnreachableError
from medusa_chat.catalog.trouble import disk_errors
from medusa_chat.engine.errors import MedusaError

PAUSES = (0.0, 1.0, 3.0)
"""Seconds to wait before each further try that follows one that brought nothing."""


def part_of(target: Path) -> Path:
    """Where an unfinished download of `target` lies."""
    return target.with_name(target.name + ".part")


def sha256_of(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def download(
    address: str, target: Path, *, size: int, sha256: str, transport: Transport, on_bytes: Callable[[int], None]
) -> None:
    """Fetches `address` to `target`, continuing what an earlier try left in `target`.part.

    The target appears only complete and with the right hash. `on_bytes` gets the number of bytes that are here.

    Raises:
        MedusaError: the network stays away, the file is not there, its hash is wrong, or the disk refuses.
    """
    part = part_of(target)
    with disk_errors(target.parent):
        _fetch(address, part, size, transport, on_bytes)
        if part.stat().st_size != size or sha256_of(part) != sha256:
            part.unlink()
            raise MedusaError(
                f"The downloaded file {target.name} is not the one the model card names (its sha256 differs); "
                "it was deleted: try again, and if that fails too, the place it comes from serves a wrong file."
            )
        part.replace(target)


def _fetch(address: str, part: Path, size: int, transport: Transport, on_bytes: Callable[[int], None]) -> None:
    """Tries again while tries bring bytes, and a few times when they do not."""
    failures = 0
    while (have := _length(part)) < size:
        try:
            _append(address, part, have, size, transport, on_bytes)
            problem = "the file ended early"
        except UnreachableError as error:
            problem = str(error)
        except MissingError as error:
            raise MedusaError(f"The file cannot be downloaded from {error}.") from error
        if _length(part) > have:
            failures = 0
            continue
        if failures == len(PAUSES):
            raise MedusaError(
                f"The download stopped at {_length(part) / size:.0%}: {problem}: "
                "check the network and start the pull again, it goes on where it stopped."
            )
        time.sleep(PAUSES[failures])
        failures += 1


def _append(
    address: str, part: Path, have: int, size: int, transport: Transport, on_bytes: Callable[[int], None]
) -> None:
    """Stops one chunk after `size`: more bytes than announced cannot have the right hash, whatever they are."""
    with transport.stream(address, have) as stream, part.open("ab") as file:
        file.truncate(stream.start)
        have = stream.start
        for chunk in stream.chunks:
            file.write(chunk)
            have += len(chunk)
            on_bytes(min(have, size))
            if have > size:
                return


def _length(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0
