"""What an empty conversation says: what this is, what was loaded, what to press."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from medusa_chat.engine.text.harmless import harmless
from medusa_chat.host.messages import Loaded
from medusa_chat.tui.text import MUTED

_KEYS = (
    ("enter", "asks"),
    ("esc", "stops, and keeps what was written"),
    ("F2 – F12", "change how it decodes, also while it writes"),
    ("F1", "lists every key and says what the figures mean"),
)


class Welcome(Static):
    """The first lines of every conversation."""

    def __init__(self, loaded: Loaded | None) -> None:
        super().__init__(_welcome(loaded), markup=False)

    def show(self, loaded: Loaded) -> None:
        self.update(_welcome(loaded))


def _welcome(loaded: Loaded | None) -> Content:
    notes = loaded.notes if loaded is not None else ()
    return Content("\n").join(
        [
            Content.styled("Medusa Chat", "bold $primary"),
            _facts(loaded),
            *(Content.styled(f"! {harmless(note)}", "$warning") for note in notes),
            Content(""),
            *(Content.assemble((f"{key:<10}", "bold $accent"), (what, MUTED)) for key, what in _KEYS),
        ]
    )


def _facts(loaded: Loaded | None) -> Content:
    if loaded is None:
        return Content.styled("The model is being loaded; you can type already.", MUTED)
    name = Content.styled(harmless(loaded.model), "$foreground")
    facts = f"  {harmless(loaded.precision)} · {harmless(loaded.device)}"
    if loaded.heads == 0 and not any("heads" in note for note in loaded.notes):
        off = Content.styled("\nMedusa off: no heads found. Answers are decoded plainly.", "bold $warning")
        return Content.assemble(name, (facts, MUTED), off)
    return Content.assemble(name, (facts, MUTED))
