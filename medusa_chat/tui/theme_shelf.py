"""The themes there are: read from their folders, and again whenever a file in them changes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from textual.theme import Theme

from medusa_chat.engine.errors import MedusaError
from medusa_chat.tui.themes import read_theme

_Stamp = tuple[int, int, int]


@dataclass(slots=True)
class Changes:
    """What a look at the folders brought."""

    fresh: dict[str, Theme] = field(default_factory=dict)
    """New or changed, by name."""
    problems: list[str] = field(default_factory=list)
    """A sentence for each file that became unreadable."""


@dataclass(slots=True)
class _File:
    stamp: _Stamp
    theme: Theme | None


class ThemeShelf:
    """Themes of several folders; a name in a later folder stands for itself and hides the one before.

    A file that becomes wrong keeps its last good theme, so that saving half an edit changes nothing on the screen.
    """

    def __init__(self, *folders: Path) -> None:
        self._folders = folders
        self._files: dict[Path, _File] = {}
        self.found: dict[str, Theme] = {}

    def look(self) -> Changes:
        """Read what changed since the last look; costs one listing of each folder where nothing did."""
        changes = Changes()
        stamps = dict(self._listed())
        if stamps == {path: file.stamp for path, file in self._files.items()}:
            return changes
        self._files = {path: self._read(path, stamp, changes) for path, stamp in stamps.items()}
        before, self.found = self.found, {file.theme.name: file.theme for file in self._files.values() if file.theme}
        changes.fresh = {name: theme for name, theme in self.found.items() if theme != before.get(name)}
        return changes

    def _listed(self) -> Iterator[tuple[Path, _Stamp]]:
        """Every theme file with what tells a changed one; a folder that cannot be read holds none."""
        for folder in self._folders:
            try:
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except OSError:
                continue
            for entry in entries:
                if entry.name.endswith(".toml") and entry.is_file():
                    stat = entry.stat()
                    yield Path(entry.path), (stat.st_mtime_ns, stat.st_size, stat.st_ino)

    def _read(self, path: Path, stamp: _Stamp, changes: Changes) -> _File:
        before = self._files.get(path)
        if before is not None and before.stamp == stamp:
            return before
        try:
            return _File(stamp, read_theme(path))
        except MedusaError as error:
            kept = before.theme if before is not None else None
            instead = "was left out" if kept is None else "is wrong now, so it stays as it was"
            changes.problems.append(f"The theme file {path.name} {instead}: {error}")
            return _File(stamp, kept)
