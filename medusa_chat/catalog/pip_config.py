"""Where this machine's pip looks for packages: a pull goes the same way, so mirrors and offline folders just work."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PUBLIC_INDEX = "https://pypi.org/simple"


@dataclass(frozen=True, slots=True)
class Places:
    find_links: tuple[str, ...]
    """Folders or pages that list files of any package."""
    indexes: tuple[str, ...]
    """Simple indexes (PEP 503): one page per package below each."""
    certificates: str | None
    """File of certificate authorities; None means the usual ones."""


def pip_places() -> Places:
    """Read from pip's configuration files and PIP_* variables; the public index alone where there is no pip."""
    options = _options()
    indexes = [] if options.get("no-index", "").lower() in {"1", "true", "yes", "on"} else _indexes(options)
    return Places(tuple(options.get("find-links", "").split()), tuple(indexes), options.get("cert") or None)


def _indexes(options: dict[str, str]) -> list[str]:
    return [options.get("index-url") or PUBLIC_INDEX, *options.get("extra-index-url", "").split()]


def _options() -> dict[str, str]:
    """Later sources win, as with pip: global, then the download command's own, then the environment."""
    sections: dict[str, dict[str, str]] = {"global": {}, "download": {}, ":env:": {}}
    for line in _listing().splitlines():
        key, separator, quoted = line.partition("=")
        section, _, name = key.rpartition(".")
        if separator and section in sections:
            sections[section][name] = str(ast.literal_eval(quoted))
    for name in ("index-url", "extra-index-url", "find-links", "no-index", "cert"):
        value = os.environ.get("PIP_" + name.upper().replace("-", "_"))
        if value:
            sections[":env:"][name] = value
    return {**sections["global"], **sections["download"], **sections[":env:"]}


def _listing() -> str:
    """`pip config list`, or nothing where pip is missing (an environment made by another tool)."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "config", "list"]
    # From the root folder, so that no stray pip.py in the current one is imported.
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(sys.executable).anchor)
    return result.stdout if result.returncode == 0 else ""
