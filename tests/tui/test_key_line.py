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
        alive = {key for each in gone if (key := each()) is not None}
        # The last ones may still be on somebody's stack.
        assert len(alive) <= 2 * len(keys(pilot.app))


async def test_keys_that_still_apply_are_kept_in_their_place():
    class Between(KeyedApp, inherit_bindings=False):
        BINDINGS: ClassVar[list[BindingType]] = [Binding("z", "first", "First"), *KeyedApp.BINDINGS]

        def action_first(self) -> None: ...

    async with Between().run_test() as pilot:
        await pilot.pause()
        first, on, *rest = keys(pilot.app)
        await pilot.press("a")
        await pilot.pause()
        assert [key.description for key in keys(pilot.app)][:2] == ["First", "Off"]
        assert [keys(pilot.app)[0], *keys(pilot.app)[2:]] == [first, *rest]
        await pilot.press("b")
        await pilot.pause()
        assert [key.description for key in keys(pilot.app)][:2] == ["First", "On"]
        assert on not in keys(pilot.app)


async def test_keys_in_a_group_have_their_words_behind_them():
    class Grouped(App[None]):
        walk = Binding.Group("Walk", compact=True)
        BINDINGS: ClassVar[list[BindingType]] = [
            Binding("j", "down", "Down", group=walk), Binding("k", "up", "Up", group=walk), Binding("x", "do", "Do"),
        ]  # fmt: skip

        def compose(self) -> ComposeResult:
            yield KeyLine()

        def action_down(self) -> None: ...
        def action_up(self) -> None: ...
        def action_do(self) -> None: ...

    async with Grouped().run_test() as pilot:
        await pilot.pause()
        group, label, *_ = pilot.app.query_one(KeyLine).children
        assert [key.key for key in group.query(FooterKey)] == ["j", "k"]
        assert str(label.render()) == "Walk"


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
