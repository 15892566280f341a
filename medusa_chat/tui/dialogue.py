"""The conversation as the screen and the engine have it: who asked what, what is under way, what was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto

from medusa_chat.chats.records import Conversation
from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.statistics import Tally
from medusa_chat.host.messages import (
    Adjust,
    Cancel,
    ChatMessage,
    Compare,
    Event,
    Failed,
    Finished,
    Generate,
    Lane,
    Load,
    Loaded,
    Pause,
    Progress,
    Resume,
    StepOnce,
    StepTaken,
)
from medusa_chat.host.protocol import Engine
from medusa_chat.tui.branches import Branches
from medusa_chat.tui.choices import Choices, possible
from medusa_chat.tui.compare.running import Comparisons
from medusa_chat.tui.compare.state import Comparison
from medusa_chat.tui.journal import Journal
from medusa_chat.tui.knobs import knob, why_unchanged
from medusa_chat.tui.switching import Switch
from medusa_chat.tui.turn import Turn, messages_of

_LENGTHS_WITHOUT_HEADS = 5


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

    def __init__(self, engine: Engine, model: str, journal: Journal) -> None:
        self.branches = Branches()
        self.turns: list[Turn] = []
        """Of the branch that is shown; the model reads these and no others."""
        self.system = ""
        """What the model is told before everything else."""
        self.choices = Choices()
        self.loaded: Loaded | None = None
        self.loading: Progress | None = Progress("starting the engine")
        self.waiting = False
        """The newest question is sent as soon as the model is ready."""
        self.paused = False
        self.comparisons = Comparisons(engine)
        self._engine = engine
        self._journal = journal
        self._switch = Switch(Load(model))
        self._answers = 0

    @property
    def current(self) -> Turn | None:
        return self.turns[-1] if self.turns else None

    @property
    def busy(self) -> bool:
        return self.current is not None and self.current.running

    @property
    def shown(self) -> Turn | None:
        """The newest turn with a step: its figures stay until there are newer ones."""
        return next((turn for turn in reversed(self.turns) if turn.tally.steps), None)

    @property
    def stage(self) -> Progress | None:
        """What is being waited for."""
        return self.loading or (self.current.stage if self.current is not None else None)

    @property
    def longest(self) -> int:
        """The largest accepted length the loaded heads can reach: the scale of its pictures."""
        return self.loaded.heads + 1 if self.loaded is not None and self.loaded.heads else _LENGTHS_WITHOUT_HEADS

    def open(self) -> None:
        """Have the model loaded."""
        self._engine.send(self._switch.wanted)

    def load(self, model: str, quantize: str = "auto") -> None:
        """Another model, or another precision, in the place of the present one. A running answer ends first, what was
        written of it and the conversation stay; a question that waits for a model is answered by this one."""
        if not self.waiting:
            self._engine.send(Cancel())
        self._switch.ask(Load(model, quantize))
        self.loading = Progress(f"loading {model}")
        self._engine.send(self._switch.wanted)

    @property
    def trouble(self) -> str | None:
        """Why the model asked for last is not loaded."""
        return self._switch.trouble

    def drain(self) -> list[Event]:
        return self._engine.drain()

    def take(self, event: Event) -> Effect:
        """Fold one event. Late ones, of an answer that is no longer the newest, change nothing."""
        turn = self.current
        if isinstance(event, Loaded):
            self._take_loaded(event)
            return Effect.LOADED
        if self.comparisons.take(event):
            self.paused = self.paused and self.comparisons.running
            return Effect.NOTHING
        if isinstance(event, Progress):
            if turn is not None and turn.running and not self.waiting and self.loading is None:
                turn.take(event)
            else:
                self.loading = event
            return Effect.NOTHING
        if isinstance(event, Failed):
            return self._take_failed(event)
        if turn is None or not turn.running or event.answer != turn.answer:
            return Effect.NOTHING
        if not isinstance(event, StepTaken | Finished):
            return Effect.NOTHING
        turn.take(event)
        if isinstance(event, StepTaken):
            self._journal.take(event, self.choices, self.loaded)
            return Effect.STEPPED
        self.paused = False
        self._journal.end(turn)
        return Effect.ENDED

    def ask(self, question: str) -> Turn:
        """A new turn at the end, sent at once or when the model is ready."""
        turn = self._next(question.strip())
        self._journal.ask(turn, self.current)
        self.branches.append(turn)
        return self._begin(turn)

    # Branches grow and are walked only while no answer runs.

    def reword(self, old: Turn, question: str) -> Turn:
        """Ask another wording of a question in its place; the old one and what followed stay on their branch."""
        turn = self._next(question.strip())
        place = self.turns.index(old)
        self._journal.ask(turn, self.turns[place - 1] if place else None)
        self.branches.reword(old, turn)
        return self._begin(turn)

    def answer_again(self, old: Turn) -> Turn:
        """Have the same question answered once more, in the place of the old answer."""
        turn = self._next(old.question)
        self._journal.ask_again(turn, old)
        self.branches.answer_again(old, turn)
        return self._begin(turn)

    def walk(self, turn: Turn, by: int, question: bool) -> Turn | None:
        """Show a sibling of a question or answer; returns the turn that stands there now, None where there is none."""
        there = self.branches.walk(turn, by, question)
        if there is not None:
            self.turns = self.branches.shown
            self._journal.choose(self.turns[-1])
        return there

    def stop(self) -> bool:
        """End the running answer; True when it has ended already because it had never been sent."""
        turn = self.current
        if turn is None or not turn.running:
            return False
        if not self.waiting:
            self._engine.send(Cancel())
            return False
        self.waiting = False
        turn.reason = "cancelled"
        self._journal.end(turn)
        return True

    def leave(self) -> None:
        """End a running answer, for what comes next is another conversation; what was written stays in this one."""
        self.stop()
        if self.current is not None:
            self._journal.end(self.current)

    def forget(self) -> None:
        """Start over."""
        self.leave()
        self._journal.start()
        self._take_up(Branches(), "")

    def go_on(self, conversation: Conversation, branches: Branches) -> None:
        """Continue an earlier conversation."""
        self.leave()
        self._journal.go_on(conversation.id)
        self._take_up(branches, conversation.system)

    async def recall(self, conversation: int) -> tuple[Conversation, Branches]:
        """What `go_on` needs of an earlier conversation.

        Raises:
            MedusaError: it cannot be read.
        """
        return await self._journal.recall(conversation)

    def instruct(self, system: str) -> None:
        """Another system prompt, from the next answer on."""
        self.system = system.strip()
        self._journal.instruct(self.system)

    def close(self) -> None:
        """Nothing more is said or asked; what was said is saved."""
        if self.current is not None:
            self._journal.end(self.current)
        self._journal.close()

    def change(self, id: str, by: int) -> str | None:
        """Step a setting; a running answer takes it up with its next step. Returns why nothing changed, if so."""
        changed = knob(id).turn(self.choices, by, self.loaded)
        if changed == self.choices:
            return why_unchanged(id, self.choices, self.loaded)
        self.choose(changed)
        return None

    def choose(self, choices: Choices) -> None:
        """Other settings as a whole; a running answer takes them up with its next step."""
        adjusted = (choices.decoding, choices.sampling) != (self.choices.decoding, self.choices.sampling)
        self.choices = choices
        if adjusted and self.busy and not self.waiting:
            self._engine.send(Adjust(choices.decoding, choices.sampling))

    # Side by side.

    def compare(self, messages: Sequence[ChatMessage], lanes: Sequence[Lane]) -> Comparison:
        """Answer these messages in several lanes, in place of a comparison that still runs. They stay out of the
        conversation.

        Raises:
            MedusaError: an answer is being written.
        """
        if self.busy:
            raise MedusaError("Still answering: Esc stops it first.")
        self._answers += 1
        self.paused = False
        choices, loaded = self.choices, self.loaded
        request = Compare(self._answers, tuple(messages), tuple(lanes), choices.sampling, choices.limits)
        return self.comparisons.start(request, loaded.plain_ms if loaded is not None else None)

    def messages_before(self, turn: Turn | None) -> tuple[ChatMessage, ...]:
        """What the model has read before this turn's question; None: before the one that comes next."""
        place = self.turns.index(turn) if turn is not None else len(self.turns)
        return messages_of([*self.turns[:place], Turn(0, "")], self.system)[:-1]

    # The running answer or comparison, step by step.

    def pause(self) -> None:
        """Hold it after its present step."""
        if (self.comparisons.running or (self.busy and not self.waiting)) and not self.paused:
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

    def _take_loaded(self, loaded: Loaded) -> None:
        self.loaded, self.loading = loaded, None
        self._switch.arrived()
        self.choices = possible(self.choices, loaded)
        turn = self.current
        if self.waiting:
            self._send()
        elif turn is not None and turn.running and not turn.tally.steps:
            # The engine was restarted for this very answer: its plain step was measured anew.
            turn.tally.plain_ms = loaded.plain_ms

    def _take_failed(self, failed: Failed) -> Effect:
        """A failure of no answer ends the turn that waits for the model, and leaves a running one alone."""
        turn = self.current
        unloaded = failed.answer is None and (self.waiting or not self.busy)
        if unloaded and (old := self._switch.fail(failed)) is not None:
            self.loading = Progress(f"loading {old.model} again")
            self._engine.send(old)
            return Effect.FAILED
        self.loading = None
        concerned = failed.answer is None if self.waiting else turn is not None and failed.answer == turn.answer
        if turn is not None and turn.running and concerned:
            self.waiting = self.paused = False
            turn.take(failed)
            self._journal.end(turn)
            return Effect.ENDED
        return Effect.FAILED if failed.answer is None else Effect.NOTHING

    def _next(self, question: str) -> Turn:
        self._answers += 1
        return Turn(self._answers, question)

    def _begin(self, turn: Turn) -> Turn:
        self.comparisons.stop()
        for other in self.branches.all:
            if other.kept.answer is not None:
                other.steps = []
        self.turns = self.branches.shown
        if self.loading is None:
            self._send()
        else:
            self.waiting = True
        return turn

    def _take_up(self, branches: Branches, system: str) -> None:
        self.branches, self.turns, self.system = branches, branches.shown, system

    def _send(self) -> None:
        turn = self.turns[-1]
        self.waiting = False
        turn.tally = Tally(plain_ms=self.loaded.plain_ms if self.loaded is not None else None)
        messages = messages_of(self.turns, self.system)
        choices = self.choices
        self._engine.send(Generate(turn.answer, messages, choices.sampling, choices.decoding, choices.limits))
