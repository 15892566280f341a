"""Which theme the app wears: asked for, remembered or fitting the terminal, and kept up with its file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from textual.app import App
from textual.theme import Theme

from medusa_chat.engine.errors import MedusaError
from medusa_chat.settings.paths import bundled_dir, config_dir
from medusa_chat.settings.preferences import prefer_theme, preferred_theme
from medusa_chat.tui.theme_shelf import ThemeShelf
from medusa_chat.tui.themes import DARK, SIXTEEN

WATCH_SECONDS = 1.0
_READING_SECONDS = 10.0


def user_folder() -> Path:
    """Where a person's own themes lie; need not exist."""
    return config_dir() / "themes"


class Look:
    """Owns the choice of theme; a wrong file or name is told in a toast and never stops the app."""

    def __init__(self, app: App[Any], wanted: str | None) -> None:
        """`wanted` is for this run alone and is not remembered."""
        self._app = app
        self._wanted = wanted
        self._shelf = ThemeShelf()

    @property
    def themes(self) -> list[Theme]:
        """All there are, by name."""
        return sorted(self._shelf.found.values(), key=lambda theme: theme.name)

    def start(self) -> None:
        self._shelf = ThemeShelf(*self._folders())
        self._take_over()
        self._app.theme = self._first()
        self._app.set_interval(WATCH_SECONDS, self.watch)

    def watch(self) -> None:
        """Follow what was edited, added or deleted since the last time."""
        worn = self._app.theme
        if worn in self._take_over():
            self._app.mutate_reactive(App.theme)
        elif worn not in self._shelf.found and self._shelf.found:
            self._app.theme = self._plain()
            self._warn(f"The theme {worn} is gone; {self._app.theme} is worn instead.")

    def preview(self, name: str) -> None:
        """Wear it for now."""
        if name in self._shelf.found:
            self._app.theme = name

    def choose(self, name: str | None) -> None:
        """Wear it and remember it for the next start; None changes nothing."""
        if name is None:
            return
        self.preview(name)
        try:
            prefer_theme(name)
        except MedusaError as error:
            self._warn(str(error))

    def _folders(self) -> Iterator[Path]:
        yield bundled_dir("themes")
        try:
            yield user_folder()
        except MedusaError as error:
            self._warn(str(error))

    def _take_over(self) -> set[str]:
        """Hand what changed to the app; the names of new and changed themes."""
        changes = self._shelf.look()
        for theme in changes.fresh.values():
            self._app.register_theme(theme)
        for problem in changes.problems:
            self._warn(problem)
        return set(changes.fresh)

    def _first(self) -> str:
        for name in (self._wanted, self._remembered()):
            if name in self._shelf.found:
                return name
            if name is not None:
                self._warn(f"There is no theme {name}; these are here: {', '.join(sorted(self._shelf.found))}.")
        return self._plain()

    def _remembered(self) -> str | None:
        try:
            return preferred_theme()
        except MedusaError as error:
            self._warn(str(error))
            return None

    def _plain(self) -> str:
        """What fits the terminal where nobody chose; without any theme file, what Textual brings."""
        few = self._app.console.color_system == "standard"
        return next((name for name in (SIXTEEN if few else DARK, DARK) if name in self._shelf.found), self._app.theme)

    def _warn(self, sentence: str) -> None:
        self._app.notify(sentence, severity="warning", timeout=_READING_SECONDS)
