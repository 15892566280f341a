"""How the bare command opens the app."""

from __future__ import annotations

import sys

from medusa_chat.engine.errors import MedusaError
from medusa_chat.settings.presets import Preset


def launch(
    model: str | None = None,
    prompt: str | None = None,
    theme: str | None = None,
    preset: Preset | None = None,
    quantize: str | None = None,
) -> None:
    """Run the app until the person leaves it; without a model, with the one that was chosen last, and without
    `quantize` in the precision chosen last for that model.

    Raises:
        MedusaError: there is no terminal to draw on.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise MedusaError('The app needs a terminal; in a script, ask with medusa-chat run "your question".')

    from medusa_chat.host.client import EngineClient
    from medusa_chat.tui.app import MedusaChatApp
    from medusa_chat.tui.first_model import first_model
    from medusa_chat.tui.garbage import search_rarely
    from medusa_chat.tui.own_precisions import precision_of
    from medusa_chat.tui.threads import give_way

    named, notice = (model, None) if model is not None else first_model()
    precision, doubt = (quantize, None) if quantize is not None else precision_of(named)
    engine = EngineClient()
    said = " ".join(sentence for sentence in (notice, doubt) if sentence is not None)
    app = MedusaChatApp(engine, named, prompt, theme, preset, said or None, precision)
    search_rarely()
    give_way()
    try:
        app.run()
    finally:
        engine.close()
    if app.fault is not None:
        raise app.fault
