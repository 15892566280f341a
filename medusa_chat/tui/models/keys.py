"""The Models screen's keys: footer, palette, help and key map all come from these."""

from __future__ import annotations

from textual.binding import Binding

MODELS_BINDINGS: tuple[Binding, ...] = (
    Binding(
        "enter,l", "load", "Load", id="models.load", key_display="⏎",
        tooltip="Chat with this model from now on; the conversation stays",
    ),
    Binding("p", "pull", "Pull", id="models.pull", tooltip="Bring its weights here; a pull that broke off goes on"),
    Binding(
        "q", "precision", "Precision", id="models.precision",
        tooltip="How its weights are kept after the next load: the next precision that fits",
    ),
    Binding("a", "add", "Add", id="models.add", tooltip="Add a folder or a hub repository to the list"),
    Binding("d", "remove", "Delete", id="models.remove", tooltip="Delete its weights here, or take your own card off the list"),
    Binding(
        "u,f5", "look", "Look again", id="models.look", show=False,
        tooltip="See what is on disk and how much memory is free now",
    ),
    Binding(
        "x,escape", "stop_pull", "Stop pull", id="models.stop-pull", key_display="x",
        tooltip="End its pull; what was downloaded stays",
    ),
    Binding(
        "escape,f11,alt+m", "close", "Back", id="models.close", key_display="esc",
        tooltip="Back to the chat; a pull goes on meanwhile",
    ),
)  # fmt: skip
