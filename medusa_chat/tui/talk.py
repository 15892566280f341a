"""What was said: the turns of the open conversation, the branch of them that is shown, and what the model reads of it."""

from __future__ import annotations

from medusa_chat.chats.records import Conversation
from medusa_chat.host.messages import ChatMessage
from medusa_chat.tui.branches import Branches
from medusa_chat.tui.journal import Journal
from medusa_chat.tui.turn import Turn, messages_of


class Talk:
    """It grows and is walked only while no answer runs. The journal keeps each change."""

    def __init__(self, journal: Journal) -> None:
        self.turns: list[Turn] = []
        """Of the branch that is shown; the model reads these and no others."""
        self.system = ""
        """What the model is told before everything else."""
        self._branches = Branches()
        self._journal = journal
        self._numbers = 0

    @property
    def current(self) -> Turn | None:
        return self.turns[-1] if self.turns else None

    @property
    def shown(self) -> Turn | None:
        """The newest turn with a step: its figures stay until there are newer ones."""
        return next((turn for turn in reversed(self.turns) if turn.tally.steps), None)

    # Branches.

    def ask(self, question: str) -> Turn:
        """A new turn at the end."""
        turn = Turn(self.number(), question.strip())
        self._journal.ask(turn, self.current)
        self._branches.append(turn)
        return self._begin(turn)

    def reword(self, old: Turn, question: str) -> Turn:
        """Another wording of a question in its place; the old one and what followed stay on their branch."""
        turn = Turn(self.number(), question.strip())
        place = self.turns.index(old)
        self._journal.ask(turn, self.turns[place - 1] if place else None)
        self._branches.reword(old, turn)
        return self._begin(turn)

    def answer_again(self, old: Turn) -> Turn:
        """The same question once more, in the place of the old answer."""
        turn = Turn(self.number(), old.question)
        self._journal.ask_again(turn, old)
        self._branches.answer_again(old, turn)
        return self._begin(turn)

    def walk(self, turn: Turn, by: int, question: bool) -> Turn | None:
        """Show a sibling of a question or answer; returns the turn that stands there now, None where there is none."""
        there = self._branches.walk(turn, by, question)
        if there is not None:
            self.turns = self._branches.shown
            self.stay()
        return there

    def stay(self) -> None:
        """The branch that is shown is the one to be found again; until then it may have been only looked at."""
        if self.turns:
            self._journal.choose(self.turns[-1])

    def number(self) -> int:
        """For the next answer or comparison; none has the number of another."""
        self._numbers += 1
        return self._numbers

    def _begin(self, turn: Turn) -> Turn:
        """Steps that are on the disk are held in memory for the newest answer alone."""
        for other in self._branches.all:
            if other.kept.answer is not None:
                other.steps = []
        self.turns = self._branches.shown
        return turn

    # What the model reads.

    def instruct(self, system: str) -> None:
        """Another system prompt, from the next answer on."""
        self.system = system.strip()
        self._journal.instruct(self.system)

    def messages(self) -> tuple[ChatMessage, ...]:
        """To be answered now."""
        return messages_of(self.turns, self.system)

    def before(self, turn: Turn | None) -> tuple[ChatMessage, ...]:
        """What the model has read before this turn's question; None: before the one that comes next."""
        place = self.turns.index(turn) if turn is not None else len(self.turns)
        return messages_of([*self.turns[:place], Turn(0, "")], self.system)[:-1]

    # Other conversations.

    def start(self) -> None:
        """A new one."""
        self._journal.start()
        self._take_up(Branches(), "")

    def go_on(self, conversation: Conversation, branches: Branches) -> None:
        """An earlier one."""
        self._journal.go_on(conversation.id)
        self._take_up(branches, conversation.system)

    async def recall(self, conversation: int) -> tuple[Conversation, Branches]:
        """What `go_on` needs of an earlier conversation.

        Raises:
            MedusaError: it cannot be read.
        """
        return await self._journal.recall(conversation)

    def _take_up(self, branches: Branches, system: str) -> None:
        self._branches, self.turns, self.system = branches, branches.shown, system
