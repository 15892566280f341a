"""How the chat screen is shown: where the panel stands, and what is redrawn of settings, figures, tree and status."""

from __future__ import annotations

from textual.events import Resize
from textual.screen import Screen

from medusa_chat.tui.chat.status import Status, StatusLine, summary
from medusa_chat.tui.chat.transcript import Transcript
from medusa_chat.tui.dialogue import Dialogue
from medusa_chat.tui.panel.panel import MedusaPanel

BEAT_EVERY = 5

PANEL_FROM = 104
"""Columns from which the panel is shown unless it was hidden by key."""


class PaintedScreen(Screen[None]):
    """Draws what the dialogue holds whenever it is told to. It decides nothing about the conversation."""

    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012
        (0, "-tiny"),
        (60, "-narrow"),
        (PANEL_FROM, "-medium"),
        (160, "-wide"),
    ]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (32, "-middle"), (38, "-roomy"), (48, "-tall")]  # noqa: RUF012

    def __init__(self, dialogue: Dialogue) -> None:
        super().__init__()
        self.dialogue = dialogue
        self._ticks = 0
        self._tree_dirty = False
        self._panel_wanted: bool | None = None

    def action_panel(self) -> None:
        self._panel_wanted = not self.has_class("-panel")
        self._place_panel(self.size.width)

    def on_resize(self, event: Resize) -> None:
        self._place_panel(event.size.width)

    def _place_panel(self, width: int) -> None:
        wanted = self._panel_wanted if self._panel_wanted is not None else width >= PANEL_FROM
        self.set_class(wanted, "-panel")
        self._show_status()
        if wanted:
            self.call_after_refresh(self._paint)

    def _show_settings(self) -> None:
        self.query_one(MedusaPanel).show_settings(self.dialogue.choices, self.dialogue.loaded)

    def _paint(self) -> None:
        self._paint_figures()
        self._paint_tree()

    def _paint_figures(self) -> None:
        if self.has_class("-panel"):
            self.query_one(MedusaPanel).show_figures(self.dialogue.shown, self.dialogue.longest)

    def _paint_tree(self) -> None:
        self._tree_dirty = False
        if self.has_class("-panel"):
            turn = self.dialogue.shown
            self.query_one(MedusaPanel).show_tree(turn.last if turn is not None else None)

    def _show_status(self) -> None:
        dialogue, stage = self.dialogue, self.dialogue.stage
        panel, transcript = self.has_class("-panel"), self.query_one(Transcript)
        self.query_one(StatusLine).show(
            Status(
                stage=stage,
                paused=dialogue.busy and dialogue.paused,
                behind=not transcript.following,
                new_lines=transcript.new_lines,
                summary=None if panel else summary(dialogue.shown, dialogue.choices, dialogue.longest),
                beat=self._ticks // BEAT_EVERY if stage is not None else 0,
            )
        )
