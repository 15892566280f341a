"""The newest question of a talk, from the moment it is asked to the end of its answer."""

from __future__ import annotations

from medusa_chat.engine.statistics import Tally
from medusa_chat.host.messages import Adjust, Cancel, Failed, Finished, Generate, Progress, StepTaken
from medusa_chat.host.protocol import Engine
from medusa_chat.tui.choices import Choices
from medusa_chat.tui.journal import Journal
from medusa_chat.tui.switching import Switch
from medusa_chat.tui.talk import Talk
from medusa_chat.tui.turn import Turn


class Answering:
    """Asks the engine for it, folds what the engine says into its turn, and has the end of it saved."""

    def __init__(self, engine: Engine, journal: Journal, talk: Talk, model: Switch) -> None:
        self.waiting = False
        """It is sent as soon as the model is ready."""
        self._engine = engine
        self._journal = journal
        self._talk = talk
        self._model = model

    @property
    def busy(self) -> bool:
        """It waits or is being answered."""
        return self._running is not None

    @property
    def under_way(self) -> bool:
        """The engine is at work on it."""
        return self.busy and not self.waiting

    @property
    def _running(self) -> Turn | None:
        turn = self._talk.current
        return turn if turn is not None and turn.running else None

    # What is asked of the engine.

    def begin(self, choices: Choices) -> None:
        """At once or when the model is ready."""
        if self._model.loading is None:
            self._send(choices)
        else:
            self.waiting = True

    def model_arrived(self, choices: Choices) -> None:
        turn = self._running
        if self.waiting:
            self._send(choices)
        elif turn is not None and not turn.tally.steps:
            # The engine was restarted for this very answer: its plain step was measured anew.
            turn.tally.plain_ms = self._model.plain_ms

    def adjust(self, choices: Choices) -> None:
        """Other settings, from its next step on."""
        if self.under_way:
            self._engine.send(Adjust(choices.decoding, choices.sampling))

    def stop(self) -> bool:
        """End it; True when it has ended already because it had never been sent."""
        turn = self._running
        if turn is None:
            return False
        if not self.waiting:
            self._engine.send(Cancel())
            return False
        self.waiting = False
        turn.reason = "cancelled"
        self._journal.end(turn)
        return True

    def save(self) -> None:
        """As far as it got, running or not."""
        if self._talk.current is not None:
            self._journal.end(self._talk.current)

    def _send(self, choices: Choices) -> None:
        turn = self._talk.turns[-1]
        self.waiting = False
        turn.tally = Tally(plain_ms=self._model.plain_ms)
        messages = self._talk.messages()
        self._engine.send(Generate(turn.answer, messages, choices.sampling, choices.decoding, choices.limits))

    # What the engine says. False where it says it of no answer, or of one that is no longer the newest.

    def take_progress(self, progress: Progress) -> bool:
        turn = self._running
        if turn is None or self.waiting or self._model.loading is not None:
            return False
        turn.take(progress)
        return True

    def take(self, event: StepTaken | Finished, choices: Choices) -> bool:
        """`choices`: those in force now, which are kept with a step where they are others than before."""
        turn = self._running
        if turn is None or event.answer != turn.answer:
            return False
        turn.take(event)
        if isinstance(event, StepTaken):
            self._journal.take(event, choices, self._model.loaded)
        else:
            self._journal.end(turn)
        return True

    def take_failed(self, failed: Failed) -> bool:
        """A failure of no answer ends the turn that waits for the model, and leaves a running one alone."""
        turn = self._running
        concerned = failed.answer is None if self.waiting else turn is not None and failed.answer == turn.answer
        if turn is None or not concerned:
            return False
        self.waiting = False
        turn.take(failed)
        self._journal.end(turn)
        return True
