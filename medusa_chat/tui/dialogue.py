"""The conversation as the screen and the engine have it: who asked what, what is under way, what was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto

from medusa_chat.chats.records import Conversation
from medusa_chat.engine.errors import MedusaError
from medusa_chat.host.messages import (
    Cancel,
    ChatMessage,
    Compare,
    Event,
    Failed,
    Finished,
    Lane,
    Loaded,
    Pause,
    Progress,
    Resume,
    StepOnce,
    StepTaken,
)
from medusa_chat.host.protocol import Engine
from medusa_chat.tui.answering import Answering
from medusa_chat.tui.branches import Branches
from medusa_chat.tui.choices import Choices, possible
from medusa_chat.tui.compare.running import Comparisons
from medusa_chat.tui.compare.state import Comparison
from medusa_chat.tui.journal import Journal
from medusa_chat.tui.knobs import knob, why_unchanged
from medusa_chat.tui.switching import Switch
from medusa_chat.tui.talk import Talk
from medusa_chat.tui.turn import Turn


class Effect(Enum):
    """What an event changed, and so what there is to redraw."""

    NOTHING = auto()
    LOADED = auto()
    STEPPED = auto()
    ENDED = auto()
    FAILED = auto()
    """Outside of any answer."""


class Dialogue:
    """Turns events into state and wishes into requests. It knows no widget, so it can be tested without a screen."""

    def __init__(self, engine: Engine, model: str, journal: Journal, quantize: str = "auto") -> None:
        self.talk = Talk(journal)
        self.model = Switch(engine, model, quantize)
        self.comparisons = Comparisons(engine)
        self.choices = Choices()
        self.paused = False
        """The running answer or comparison is held between two steps."""
        self._answering = Answering(engine, journal, self.talk, self.model)
        self._engine = engine
        self._journal = journal

    # How things stand.

    @property
    def turns(self) -> list[Turn]:
        """Of the branch that is shown."""
        return self.talk.turns

    @property
    def current(self) -> Turn | None:
        return self.talk.current

    @property
    def busy(self) -> bool:
        return self._answering.busy

    @property
    def waiting(self) -> bool:
        """The newest question is sent as soon as the model is ready."""
        return self._answering.waiting

    @property
    def loaded(self) -> Loaded | None:
        return self.model.loaded

    @property
    def loading(self) -> Progress | None:
        return self.model.loading

    @property
    def stage(self) -> Progress | None:
        """What is being waited for."""
        return self.loading or (self.current.stage if self.current is not None else None)

    # What the engine says.

    def drain(self) -> list[Event]:
        return self._engine.drain()

    def take(self, event: Event) -> Effect:
        """Fold one event. Late ones, of an answer that is no longer the newest, change nothing."""
        if isinstance(event, Loaded):
            self.model.arrived(event)
            self.choices = possible(self.choices, event)
            self._answering.model_arrived(self.choices)
            return Effect.LOADED
        if self.comparisons.take(event):
            self.paused = self.paused and self.comparisons.running
            return Effect.NOTHING
        if isinstance(event, Progress):
            if not self._answering.take_progress(event):
                self.model.loading = event
            return Effect.NOTHING
        if isinstance(event, Failed):
            return self._take_failed(event)
        if not isinstance(event, StepTaken | Finished) or not self._answering.take(event, self.choices):
            return Effect.NOTHING
        return Effect.STEPPED if isinstance(event, StepTaken) else self._ended()

    def _take_failed(self, failed: Failed) -> Effect:
        unloaded = failed.answer is None and (self.waiting or not self.busy)
        if unloaded and self.model.fail(failed):
            return Effect.FAILED
        self.model.loading = None
        if self._answering.take_failed(failed):
            return self._ended()
        return Effect.FAILED if failed.answer is None else Effect.NOTHING

    def _ended(self) -> Effect:
        self.paused = False
        return Effect.ENDED

    # The model.

    def load(self, model: str, quantize: str = "auto") -> None:
        """Another one, or another precision, in the place of the present one. A running answer ends first, what was
        written of it and the conversation stay; a question that waits for a model is answered by this one."""
        if not self.waiting:
            self._engine.send(Cancel())
        self.model.ask(model, quantize)

    # Questions: sent at once or when the model is ready.

    def ask(self, question: str) -> Turn:
        return self._begin(self.talk.ask(question))

    def reword(self, old: Turn, question: str) -> Turn:
        """See `Talk`; likewise below."""
        return self._begin(self.talk.reword(old, question))

    def answer_again(self, old: Turn) -> Turn:
        return self._begin(self.talk.answer_again(old))

    def _begin(self, turn: Turn) -> Turn:
        self.comparisons.stop()
        self._answering.begin(self.choices)
        return turn

    def stop(self) -> bool:
        """End the running answer; True when it has ended already because it had never been sent."""
        return self._answering.stop()

    # Other conversations.

    def leave(self) -> None:
        """End a running answer, for what comes next is another conversation; what was written stays in this one."""
        self.stop()
        self._answering.save()

    def forget(self) -> None:
        """Start over."""
        self.leave()
        self.talk.start()

    def go_on(self, conversation: Conversation, branches: Branches) -> None:
        """Continue an earlier conversation."""
        self.leave()
        self.talk.go_on(conversation, branches)

    def close(self) -> None:
        """Nothing more is said or asked; what was said is saved."""
        self._answering.save()
        self._journal.close()

    # Settings: a running answer takes them up with its next step.

    def change(self, id: str, by: int) -> str | None:
        """Step one; returns why nothing changed, if so."""
        changed = knob(id).turn(self.choices, by, self.loaded)
        if changed == self.choices:
            return why_unchanged(id, self.choices, self.loaded)
        self.choose(changed)
        return None

    def choose(self, choices: Choices) -> None:
        """Others as a whole."""
        adjusted = (choices.decoding, choices.sampling) != (self.choices.decoding, self.choices.sampling)
        self.choices = choices
        if adjusted:
            self._answering.adjust(choices)

    # Side by side.

    def compare(self, messages: Sequence[ChatMessage], lanes: Sequence[Lane]) -> Comparison:
        """Answer these messages in several lanes, in place of a comparison that still runs. They stay out of the
        conversation.

        Raises:
            MedusaError: an answer is being written.
        """
        if self.busy:
            raise MedusaError("Still answering: Esc stops it first.")
        self.paused = False
        choices, number = self.choices, self.talk.number()
        request = Compare(number, tuple(messages), tuple(lanes), choices.sampling, choices.limits)
        return self.comparisons.start(request, self.model.plain_ms)

    # The running answer or comparison, step by step.

    def pause(self) -> None:
        """Hold it after its present step."""
        if (self.comparisons.running or self._answering.under_way) and not self.paused:
            self.paused = True
            self._engine.send(Pause())

    def step_once(self) -> None:
        """While paused: let one more step happen."""
        if self.paused:
            self._engine.send(StepOnce())

    def resume(self) -> None:
        if self.paused:
            self.paused = False
            self._engine.send(Resume())
