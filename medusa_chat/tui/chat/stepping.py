"""The running answer step by step, from the chat itself; and the way to the inspector."""

from __future__ import annotations

from medusa_chat.tui.chat.reading import ReadingScreen
from medusa_chat.tui.inspector.opening import open_inspector
from medusa_chat.tui.journal import Journal


class SteppingScreen(ReadingScreen):
    """Pausing holds the engine between two steps; the answer can still be stopped."""

    _journal: Journal

    def action_pause(self) -> None:
        """Hold the running answer, or let a held one go on."""
        if self._is_running():
            if self.dialogue.paused:
                self.dialogue.resume()
            else:
                self.dialogue.pause()
            self._show_status()

    def action_step_once(self) -> None:
        """Of a paused answer; a running one is paused first."""
        if self._is_running():
            if self.dialogue.paused:
                self.dialogue.step_once()
            else:
                self.dialogue.pause()
            self._show_status()

    def action_inspect(self) -> None:
        """The answer under the cursor, or else the newest."""
        open_inspector(self.app, self.dialogue, self._journal, self.chosen)

    def _is_running(self) -> bool:
        if not self.dialogue.busy:
            self.notify("No answer is being written just now.", timeout=4)
        return self.dialogue.busy
