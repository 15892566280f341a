"""What the chat screen does about heads that learn from use: begins lessons while nobody is here, and tells what came
of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING

from textual import on, work
from textual.app import SystemCommand

from medusa_chat.chats import conversations
from medusa_chat.engine.errors import MedusaError
from medusa_chat.settings.learning import Learning, prefer_learning
from medusa_chat.tui.chat.sidebar import Sidebar
from medusa_chat.tui.learning import pupil as pupils
from medusa_chat.tui.learning.idleness import Idleness, Verdict
from medusa_chat.tui.learning.knowledge import Learnt, Lesson, forget, survey
from medusa_chat.tui.learning.pupil import Outcome, Pupil, on_battery
from medusa_chat.tui.settings.drawing import State
from medusa_chat.tui.settings.learning_rows import AGAIN, MEANING, turned
from medusa_chat.tui.settings.screen_part import SettingScreen
from medusa_chat.tui.settings.setting_list import SettingList
from medusa_chat.tui.settings.wishes import LearningTaken, LearningTurned
from medusa_chat.tui.training.screen_part import FollowingScreen

if TYPE_CHECKING:
    from medusa_chat.tui.dialogue import Dialogue
    from medusa_chat.tui.journal import Journal

LOOK_SECONDS = 0.2
NEW_ANSWERS = 10
"""Since the last lesson, before the next one is worth the time."""
FIRST_ANSWERS = 25
"""Before the first one: a tenth of them decides."""
_READING_SECONDS = 15.0


class LearningScreen(FollowingScreen, SettingScreen):
    """Never two lessons at once; a key, a question or the end of the app ends the running one."""

    _journal: Journal

    def __init__(self, dialogue: Dialogue) -> None:
        super().__init__(dialogue)
        self._learnt = Learnt()
        self._idleness = Idleness(monotonic())
        self._pupil: Pupil | None = None
        self._untold: tuple[str, float] | None = None
        """For when the person is back: what, and since when it waits."""

    def on_mount(self) -> None:
        self.set_interval(LOOK_SECONDS, self._watch_over)

    def on_unmount(self) -> None:
        if self._pupil is not None:
            self._pupil.stop()

    def touch(self) -> None:
        """The person is here."""
        self._idleness.touch(monotonic())

    @property
    def _state(self) -> State:
        return replace(super()._state, learnt=self._learnt)

    # When.

    def _watch_over(self) -> None:
        loaded = self.dialogue.loaded
        if loaded is not None and loaded.model != self._learnt.model:
            self._learnt = replace(self._learnt, model=loaded.model, able=False)
            self._survey_lessons()
        if self._pupil is not None and self._pupil.outcome is not None:
            self._lesson_ended(self._pupil.outcome)
        verdict = self._idleness.look(monotonic(), self._learnt.wish.enabled and self._learnt.able, self._occupied)
        if verdict is Verdict.END and self._pupil is not None:
            self._pupil.end()
        elif verdict is Verdict.ASK:
            self._begin_if_worthwhile()
        if self._untold is not None and self._idleness.touched > self._untold[1]:
            self.notify(self._untold[0], timeout=_READING_SECONDS)
            self._untold = None

    @property
    def _occupied(self) -> bool:
        dialogue = self.dialogue
        return dialogue.busy or dialogue.comparisons.running or dialogue.loading is not None or self._pulling

    @property
    def _pulling(self) -> bool:
        """Models are pulled from a screen of their own, which is there once it was opened."""
        if not self.app.is_screen_installed("models"):
            return False
        from medusa_chat.tui.models.view import ModelsView

        models = self.app.get_screen("models")
        return isinstance(models, ModelsView) and models.pulling

    @work(exclusive=True, group="begin-lesson")
    async def _begin_if_worthwhile(self) -> None:
        learnt, touched = self._learnt, self._idleness.touched
        try:
            new = await self._journal.read(lambda db: conversations.answers_of(db, learnt.model, learnt.ended))
        except MedusaError:
            return  # the journal has said so
        enough = new >= (NEW_ANSWERS if learnt.last is not None else FIRST_ANSWERS)
        if not enough or await asyncio.to_thread(on_battery):
            return
        # All may be otherwise by now.
        if (learnt, touched, None) == (self._learnt, self._idleness.touched, self._pupil) and not self._occupied:
            self._begin_lesson(wanted=False)

    def _begin_lesson(self, wanted: bool) -> bool:
        """Whether one began; if not, `reason` says why."""
        try:
            self._pupil = Pupil(pupils.command(self._learnt.model, self._learnt.wish.share))
        except MedusaError as error:
            self._idleness.end(monotonic(), failed=True)
            self._put_learnt(replace(self._learnt, reason=str(error)))
            return False
        self._idleness.begin(monotonic(), wanted)
        self._put_learnt(replace(self._learnt, running=True, reason=""))
        return True

    def _lesson_ended(self, outcome: Outcome) -> None:
        wanted, self._pupil = self._idleness.wanted, None
        self._idleness.end(monotonic(), failed=outcome.problem is not None)
        self._put_learnt(replace(self._learnt, running=False, reason=outcome.problem or ""))
        if outcome.lesson is not None:
            self._tell_lesson(outcome.lesson, wanted)
        elif outcome.problem is not None and wanted:
            self.notify(outcome.problem, severity="warning", timeout=_READING_SECONDS)

    def _tell_lesson(self, lesson: Lesson, wanted: bool) -> None:
        self._survey_lessons()
        if wanted:
            self.notify(lesson.told, timeout=_READING_SECONDS)
        else:
            self._untold = (lesson.told, monotonic())

    # What is known.

    @work(exclusive=True, group="survey-lessons")
    async def _survey_lessons(self) -> None:
        loaded = self.dialogue.loaded
        if loaded is None:
            return
        try:
            found = await asyncio.to_thread(survey, loaded.model, loaded.heads)
        except MedusaError as error:
            self.notify(str(error), severity="warning", timeout=_READING_SECONDS)
            return
        now = self._learnt
        self._put_learnt(replace(found, running=now.running, reason=found.reason or now.reason))

    def _put_learnt(self, learnt: Learnt) -> None:
        self._learnt = learnt
        self._show_settings()

    # What the person wants.

    @on(LearningTurned)
    async def _on_turned_learning(self, event: LearningTurned) -> None:
        await self._wish_learning(turned(event.row, self._learnt.wish, event.by))

    @on(LearningTaken)
    async def _on_taken_learning(self, event: LearningTaken) -> None:
        rows = self.query_one(SettingList)
        if event.row in ("learn", "share"):
            await self._wish_learning(turned(event.row, self._learnt.wish, 1))
        elif event.row == "now":
            self.learn_now()
        elif not self._learnt.own:
            rows.complain("There is nothing to go back from: these are the heads the model came with.")
        elif rows.problem == AGAIN:
            await self._forget_lessons()
        else:
            rows.complain(AGAIN)

    async def _wish_learning(self, wish: Learning) -> None:
        begins = wish.enabled and not self._learnt.wish.enabled
        self._put_learnt(replace(self._learnt, wish=wish))
        try:
            await asyncio.to_thread(prefer_learning, wish)
        except MedusaError as error:
            self.notify(str(error), severity="error", timeout=_READING_SECONDS)
        if begins:
            self.notify(MEANING, timeout=_READING_SECONDS)

    def learn_now(self) -> None:
        """Begin a lesson, or end the running one."""
        if self._pupil is not None:
            self._pupil.end()
        elif not self._learnt.able:
            self.notify(self._learnt.reason or "The model is not loaded yet.", timeout=4)
        elif self._occupied:
            self.notify("Not while the machine has other work: wait until it is done.", timeout=4)
        else:
            began = self._begin_lesson(wanted=True)
            told = "Your heads learn now; a question ends it, and it goes on next time."
            self.notify(told if began else self._learnt.reason, timeout=5)

    async def _forget_lessons(self) -> None:
        if self._pupil is not None:
            await asyncio.to_thread(self._pupil.stop)
        try:
            await asyncio.to_thread(forget, self._learnt.model)
        except MedusaError as error:
            self.notify(str(error), severity="error", timeout=_READING_SECONDS)
        else:
            self.notify("The heads from before are used from the next answer on.", timeout=5)
        for rows in self.query(SettingList):
            rows.complain("")
        self._survey_lessons()

    async def _switch_learning(self) -> None:
        await self._wish_learning(turned("learn", self._learnt.wish, 1))
        if not self._learnt.wish.enabled:
            self.notify("Your heads no longer learn from use.", timeout=4)

    @work(exclusive=True, group="conversations")
    async def _keep_private(self) -> None:
        """The open conversation, or no longer."""
        if (here := self.shelf.here) is None:
            self.notify("There is nothing to keep private yet: ask something first.", timeout=4)
            return
        try:
            private = await self.shelf.toggle_private(here)
        except MedusaError as error:
            self.notify(str(error), severity="error")
        else:
            self.notify("Heads never learn from this conversation." if private else "Heads may learn from it again.")
            self.query_one(Sidebar).look_again()

    def commands(self) -> Iterable[SystemCommand]:
        yield from super().commands()
        yield SystemCommand(
            "Keep this conversation private", "Heads never learn from it; again: they may", self._keep_private
        )
        yield SystemCommand("Learning from use", f"On or off. {MEANING}", self._switch_learning)
        yield SystemCommand("Learn from use now", "Without waiting until nobody is here; again: end it", self.learn_now)
