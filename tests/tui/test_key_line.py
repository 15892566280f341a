"""The line of keys follows what applies, does nothing when that is the same, and keeps nothing of what it was."""

from __future__ import annotations

import gc
import weakref
from typing import ClassVar

import pytest
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets._footer import FooterKey

from medusa_chat.tui.key_line import KeyLine


class KeyedApp(App[None]):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("a", "on", "On"), Binding("b", "off", "Off")]
    lit = False

    def compose(self) -> ComposeResult:
        yield KeyLine()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return {"on": not self.lit, "off": self.lit}.get(action, True)

    def action_on(self) -> None:
        self.lit = True
        self.refresh_bindings()

    def action_off(self) -> None:
        self.lit = False
        self.refresh_bindings()


def keys(app: App[None]) -> list[FooterKey]:
    return list(app.screen.query(FooterKey))


def words(app: App[None]) -> list[str]:
    return [key.description for key in keys(app) if key.description in ("On", "Off")]


async def test_it_shows_what_applies_now():
    async with KeyedApp().run_test() as pilot:
        await pilot.pause()
        assert words(pilot.app) == ["On"]
        await pilot.press("a")
        await pilot.pause()
        assert words(pilot.app) == ["Off"]


async def test_the_same_keys_are_not_made_again():
    async with KeyedApp().run_test() as pilot:
        await pilot.pause()
        before = keys(pilot.app)
        assert before
        for _ in range(3):
            pilot.app.refresh_bindings()
            await pilot.pause()
        assert keys(pilot.app) == before


async def test_old_keys_are_let_go():
    async with KeyedApp().run_test() as pilot:
        await pilot.pause()
        gone = []
        for key in "abababab":
            gone += [weakref.ref(each) for each in keys(pilot.app)]
            await pilot.press(key)
            await pilot.pause()
        gc.collect()
        # The last ones may still be on somebody's stack.
        assert sum(each() is not None for each in gone) <= 2 * len(keys(pilot.app))


class CrowdedApp(App[None]):
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, f"do('{key}')", f"Action {key}") for key in "abcdefgh"),
        Binding("ctrl+q", "quit", "Quit"),
        Binding("f1", "help", "Help"),
    ]

    def compose(self) -> ComposeResult:
        yield KeyLine()

    def action_help(self) -> None: ...


@pytest.mark.parametrize("width", [24, 40, 61, 80, 200])
async def test_keys_that_do_not_fit_are_left_out_from_the_end_and_none_is_cut(width):
    async with CrowdedApp().run_test(size=(width, 10)) as pilot:
        await pilot.pause()
        shown = [key for key in keys(pilot.app) if key.display]
        named = [key.description for key in shown]
        acts = [name for name in named if name.startswith("Action")]
        assert acts == [f"Action {key}" for key in "abcdefgh"][: len(acts)]
        assert {"Quit", "Help"} <= set(named)
        if acts:
            assert max(key.region.right for key in shown) <= width
        await pilot.resize_terminal(200, 10)
        await pilot.pause()
        assert all(key.display for key in keys(pilot.app))
