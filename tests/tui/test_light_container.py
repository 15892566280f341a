"""A light container looks as the container it stands for."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult
from textual.containers import VerticalGroup
from textual.filter import Monochrome
from textual.widgets import Static

from medusa_chat.tui.light_container import LightContainer


class Quick(VerticalGroup, LightContainer):
    DEFAULT_CSS = "Quick { height: 1fr; }"


class Slow(VerticalGroup):
    DEFAULT_CSS = "Slow { height: 1fr; }"


def painted(container: type[VerticalGroup], style: str, no_color: bool) -> App[None]:
    class Painted(App[None]):
        CSS = f"{container.__name__} {{ background: #335577 50%; padding: 1 2; {style} }} Static {{ width: 6; }}"

        def compose(self) -> ComposeResult:
            yield container(Static("words"), Static("more"))

    app = Painted()
    if no_color:
        app._filters.append(Monochrome())
    return app


@pytest.mark.parametrize("style", ["", "border-left: blank;", "border-left: outer red;"])
@pytest.mark.parametrize("no_color", [False, True])
async def test_it_looks_as_any_container(style: str, no_color: bool):
    looks = []
    for container in (Quick, Slow):
        async with painted(container, style, no_color).run_test(size=(20, 6)) as pilot:
            await pilot.pause()
            rows = pilot.app.screen._compositor.render_strips()
            looks.append(
                [
                    (letter, style and style.bgcolor, style and (style.color if letter.strip() else None))
                    for row in rows
                    for text, style, _ in row
                    for letter in text
                ]
            )
    assert looks[0] == looks[1]
    assert any(letter == "w" for letter, *_ in looks[0])
