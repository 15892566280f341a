"""The app over a scripted engine, driven by keys."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest
from doubles.chat import Chat
from doubles.pictures import MODEL, hold_cursors, stand_still
from doubles.scripted_engine import ScriptedEngine
from doubles.waiting import PatientPilot, no_wait
from textual.pilot import Pilot

from medusa_chat.host.messages import Loaded
from medusa_chat.tui.app import MedusaChatApp

Opener = Callable[..., AbstractAsyncContextManager[Chat]]
Scene = Callable[[Chat], Awaitable[None]]


@pytest.fixture(autouse=True)
def _own_home(tmp_path, monkeypatch):
    """No theme, setting or terminal of the machine that tests."""
    monkeypatch.setenv("MEDUSA_CHAT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.delenv("NO_COLOR", raising=False)


@pytest.fixture
def _own_waits(monkeypatch):
    """`PatientPilot` knows when a key has had its effect."""
    monkeypatch.setattr("textual.app.wait_for_idle", no_wait)
    monkeypatch.setattr("textual.pilot.wait_for_idle", no_wait)


@pytest.fixture
def open_chat(_own_waits) -> Opener:
    """`async with open_chat("reply", size=(120, 40)) as chat`; the model is loaded when the block begins."""

    @asynccontextmanager
    async def opened(
        *replies: object,
        size: tuple[int, int] = (120, 40),
        prompt: str | None = None,
        theme: str | None = None,
        loaded: Loaded | None = None,
        engine: ScriptedEngine | None = None,
        ready: bool = True,
        model: str = "tiny",
        quantize: str = "auto",
    ) -> AsyncIterator[Chat]:
        if engine is None:
            options = {} if loaded is None else {"loaded": loaded}
            engine = ScriptedEngine(*(replies or ("Paris.",)), **options)
        app = MedusaChatApp(engine, model, prompt, theme, quantize=quantize)
        app.animation_level = "none"
        async with app.run_test(size=size):
            chat = Chat(app, engine, PatientPilot(app))
            if ready:
                await chat.ready()
            yield chat

    return opened


@pytest.fixture
def looks_as_kept(_own_waits, snap_compare) -> Callable[..., bool]:
    """`assert looks_as_kept(scene, "reply", size=(80, 24), theme="medusa-dark")`: what is on the screen after the scene,
    once it stands still, is the stored picture. The model is loaded when the scene begins."""

    def compared(
        scene: Scene,
        *replies: object,
        size: tuple[int, int],
        theme: str | None,
        engine: ScriptedEngine | None = None,
        model: str = MODEL,
    ) -> bool:
        engine = engine or ScriptedEngine(*(replies or ("Paris.",)))
        app = MedusaChatApp(engine, model, theme=theme)
        app.animation_level = "none"

        async def play(pilot: Pilot[None]) -> None:
            chat = Chat(app, engine, PatientPilot(app))
            await chat.ready()
            hold_cursors(chat)
            await scene(chat)
            await stand_still(chat)

        try:
            return snap_compare(app, terminal_size=size, run_before=play)
        finally:
            # A scene that fails ends the app, which then has no picture to show.
            if app.fault is not None:
                raise app.fault

    return compared
