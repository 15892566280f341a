"""How the chat screen is shown: what stands beside the conversation, and what is redrawn of it."""

from __future__ import annotations

from textual.events import Resize
from textual.screen import Screen

from medusa_chat.tui.chat.arrangement import BROAD_FROM, PANEL_FROM, PARTS, Part, Wishes, arranged
from medusa_chat.tui.chat.pace import Pace
from medusa_chat.tui.chat.status import Status, StatusLine, summary
from medusa_chat.tui.chat.transcript import Transcript
from medusa_chat.tui.dialogue import Dialogue
from medusa_chat.tui.panel.panel import MedusaPanel

_KEY_LINE = 1
"""Rows at the bottom that notices leave free."""
CLASSES: dict[Part, str] = {"sidebar": "-sidebar", "settings": "-settings", "medusa": "-panel"}
"""By which the style sheets know what is shown."""


class PaintedScreen(Screen[None]):
    """Draws what the dialogue holds whenever it is told to. It decides nothing about the conversation."""

    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012
        (0, "-tiny"),
        (60, "-narrow"),
        (PANEL_FROM, "-medium"),
        (BROAD_FROM, "-wide"),
    ]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (32, "-middle"), (38, "-roomy"), (48, "-tall")]  # noqa: RUF012

    def __init__(self, dialogue: Dialogue) -> None:
        super().__init__()
        self.dialogue = dialogue
        self.pace = Pace()
        self.wishes = Wishes()

    def on_mount(self) -> None:
        self.screen_layout_refresh_signal.subscribe(self, self._place_notices, immediate=True)

    def _place_notices(self, screen: Screen[object]) -> None:
        """Above status line and composer, however high that has grown: what is typed stays in view."""
        line = self.query_one(StatusLine)
        below = self.size.height - line.region.y if line.region else _KEY_LINE
        for notices in self.query("ToastRack"):
            if notices.styles.margin.bottom != below:
                notices.styles.margin = (0, 0, below, 0)

    def action_panel(self) -> None:
        if self.shows("medusa"):
            self.close_part("medusa")
        else:
            self.open_part("medusa")

    def on_resize(self, event: Resize) -> None:
        self._arrange(event.size.width)

    # What stands beside the conversation.

    def shows(self, part: Part) -> bool:
        return self.has_class(CLASSES[part])

    def open_part(self, part: Part) -> None:
        self.wish(self.wishes.opened(part, self.size.width))

    def close_part(self, part: Part) -> None:
        self.wish(self.wishes.closed(part))

    def uncover(self) -> bool:
        """Close what took the whole width; False where the conversation is seen."""
        if (part := self.wishes.visited) is None or not self.has_class("-alone"):
            return False
        self.close_part(part)
        return True

    def wish(self, wishes: Wishes) -> None:
        self.wishes = wishes
        self._arrange(self.size.width)

    def _arrange(self, width: int) -> None:
        there = arranged(width, self.wishes)
        for part in PARTS:
            self.set_class(part in there.shown, CLASSES[part])
        self.set_class(there.alone, "-alone")
        self._show_status()
        if self.shows("medusa"):
            self.call_after_refresh(self._paint)

    def _show_settings(self) -> None:
        # What is read on a thread may arrive when the app is being left and the panel is gone.
        for panel in self.query(MedusaPanel):
            panel.show_settings(self.dialogue.choices, self.dialogue.loaded)

    def _paint(self) -> None:
        self._paint_figures()
        self._paint_tree()

    def _paint_figures(self) -> None:
        self.pace.figures = False
        if self.shows("medusa"):
            self.query_one(MedusaPanel).show_figures(self.dialogue.talk.shown, self.dialogue.model.longest)

    def _paint_tree(self) -> None:
        self.pace.tree = False
        if self.shows("medusa"):
            turn = self.dialogue.talk.shown
            self.query_one(MedusaPanel).show_tree(turn.last if turn is not None else None)

    def _show_status(self) -> None:
        dialogue, stage = self.dialogue, self.dialogue.stage
        panel, transcript = self.shows("medusa"), self.query_one(Transcript)
        self.query_one(StatusLine).show(
            Status(
                stage=stage,
                paused=dialogue.busy and dialogue.paused,
                behind=not transcript.following,
                new_lines=transcript.new_lines,
                summary=() if panel else summary(dialogue.talk.shown, dialogue.choices, dialogue.model.longest),
                beat=self.pace.beat if stage is not None else 0,
            )
        )
