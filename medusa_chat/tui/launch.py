"""How the bare command opens the app."""

from __future__ import annotations

import sys

from medusa_chat.engine.errors import MedusaError
from medusa_chat.settings.presets import Preset


def launch(
    model: str | None = None, prompt: str | None = None, theme: str | None = None, preset: Preset | None = None
) -> None:
    """Run the app until the person leaves it; without a model, with the one that was chosen last.

    Raises:
        MedusaError: there is no terminal to draw on.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise MedusaError('The app needs a terminal; in a script, ask with medusa-chat run "your question".')

    from medusa_chat.host.client import EngineClient
    from medusa_chat.tui.app import MedusaChatApp
    from medusa_chat.tui.first_model import first_model
    from medusa_chat.tui.garbage import search_rarely

    named, notice = (model, None) if model is not None else first_model()
    engine = EngineClient()
    app = MedusaChatApp(engine, named, prompt, theme, preset, notice)
    search_rarely()
    try:
        app.run()
    finally:
        engine.close()
    if app.fault is not None:
        raise app.fault
