"""What a growing answer costs in layouts, and how soon a frame follows another."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from textual.app import App, ComposeResult
from textual.containers import VerticalGroup, VerticalScroll
from textual.widgets import Static

from medusa_chat.tui.laid_out_once import LaidOutOnce
from medusa_chat.tui.light_container import LightContainer


class Text(Static, LaidOutOnce):
    DEFAULT_CSS = "Text { height: auto; }"


class Group(VerticalGroup, LightContainer): ...


class Scroll(VerticalScroll, LightContainer): ...


class Growing(App[None]):
    def compose(self) -> ComposeResult:
        with Scroll(), Group():
            yield Text("one")

    def on_mount(self) -> None:
        self.layouts = 0
        self.screen.screen_layout_refresh_signal.subscribe(self, self._count)

    def _count(self, _: object) -> None:
        self.layouts += 1


async def test_text_that_grows_costs_one_layout():
    async with Growing().run_test(size=(20, 6)) as pilot:
        await pilot.pause()
        before = pilot.app.layouts
        pilot.app.query_one(Text).update("one\ntwo")
        for _ in range(5):
            await pilot.pause()
        assert pilot.app.query_one(Text).size.height == 2
        assert pilot.app.layouts == before + 1


async def test_a_scroll_bar_comes_and_goes_with_the_text():
    async with Growing().run_test(size=(20, 6)) as pilot:
        scroll, text = pilot.app.query_one(Scroll), pilot.app.query_one(Text)
        for lines, wanted in ((30, True), (2, False), (7, True)):
            text.update("\n".join(map(str, range(lines))))
            for _ in range(5):
                await pilot.pause()
            assert scroll.show_vertical_scrollbar is wanted
            assert scroll.max_scroll_y == max(0, lines - 6)
            assert text.size.width == (20 - scroll.scrollbar_size_vertical)


@pytest.mark.parametrize(("given", "frames"), [(None, 120), ("30", 30)])
def test_a_frame_may_follow_the_last_after_8_ms_unless_the_person_says_otherwise(given, frames):
    code = "import medusa_chat.tui.app, textual.constants; print(textual.constants.MAX_FPS)"
    chosen = {} if given is None else {"TEXTUAL_FPS": given}
    environment = {name: value for name, value in os.environ.items() if name != "TEXTUAL_FPS"} | chosen
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(frames)
