"""The tree of turns: what was asked at each place, the answers to each question, and the one way through it that is
shown. Walking away from a branch and back finds it as it was left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from medusa_chat.tui.turn import Turn


@dataclass(eq=False, slots=True)
class Wording:
    """A question with its answers, one turn each, and what was asked below each of them."""

    turns: list[Turn] = field(default_factory=list)
    below: list[Fork] = field(default_factory=list)
    chosen: int = 0

    def add(self, turn: Turn) -> Fork:
        """A further answer, chosen from now on; its fork is what will be asked below."""
        self.turns.append(turn)
        self.below.append(Fork())
        self.chosen = len(self.turns) - 1
        return self.below[-1]

    def choose(self, message: int) -> bool:
        """The turn with this message, by its id on the disk; a question leaves the answer as it was. False: none has it."""
        if self.turns[self.chosen].kept.question != message:
            holds = [message in (turn.kept.question, turn.kept.answer) for turn in self.turns]
            if not any(holds):
                return False
            self.chosen = holds.index(True)
        return True


@dataclass(eq=False, slots=True)
class Fork:
    """The wordings of a question at one place."""

    wordings: list[Wording] = field(default_factory=list)
    chosen: int = 0

    def add(self) -> Wording:
        """A further wording, chosen from now on."""
        self.wordings.append(Wording())
        self.chosen = len(self.wordings) - 1
        return self.wordings[-1]


class Branches:
    """All turns of a conversation. Turns on the shown branch know their places among their siblings."""

    def __init__(self, first: Fork | None = None) -> None:
        self._first = Fork() if first is None else first
        self._number()

    @property
    def shown(self) -> list[Turn]:
        """The branch that is shown, oldest turn first."""
        return [wording.turns[wording.chosen] for _, wording in self._way()]

    @property
    def all(self) -> list[Turn]:
        """Of every branch, in no order."""
        found: list[Turn] = []
        forks = [self._first]
        while forks:
            for wording in forks.pop().wordings:
                found += wording.turns
                forks += wording.below
        return found

    def append(self, turn: Turn) -> None:
        """Below the newest turn shown."""
        last = self._first
        for _, wording in self._way():
            last = wording.below[wording.chosen]
        last.add().add(turn)
        self._number()

    def reword(self, old: Turn, turn: Turn) -> None:
        """A turn whose question stands beside the one of `old`; what was asked below `old` waits there."""
        self._place(old)[0].add().add(turn)
        self._number()

    def answer_again(self, old: Turn, turn: Turn) -> None:
        """A turn with the same question as `old` and an answer beside its answer."""
        self._place(old)[1].add(turn)
        self._number()

    def walk(self, turn: Turn, by: int, question: bool) -> Turn | None:
        """Show the sibling `by` places on, of the question or of the answer, with the branch below as it was left.

        Returns the turn that now stands in this place, or None where there is no such sibling.
        """
        fork, wording = self._place(turn)
        if question:
            if not 0 <= fork.chosen + by < len(fork.wordings):
                return None
            fork.chosen += by
            wording = fork.wordings[fork.chosen]
        else:
            if not 0 <= wording.chosen + by < len(wording.turns):
                return None
            wording.chosen += by
        self._number()
        return wording.turns[wording.chosen]

    def lead_to(self, message: int) -> Turn | None:
        """Show the branch that holds a message, by its id on the disk, with what is below it as it was left.

        Returns the turn with the message, or None where there is none.
        """
        forks, above = [self._first], dict[Fork, tuple[Fork, Wording]]()
        for fork in forks:
            for wording in fork.wordings:
                forks += wording.below
                above.update((below, (fork, wording)) for below in wording.below)
        places = ((fork, wording) for fork in forks for wording in fork.wordings if wording.choose(message))
        if (place := next(places, None)) is None:
            return None
        fork, wording = place
        turn = wording.turns[wording.chosen]
        fork.chosen = fork.wordings.index(wording)
        while fork in above:
            below, (fork, wording) = fork, above[fork]
            wording.chosen, fork.chosen = wording.below.index(below), fork.wordings.index(wording)
        self._number()
        return turn

    def _way(self) -> Iterator[tuple[Fork, Wording]]:
        fork = self._first
        while fork.wordings:
            wording = fork.wordings[fork.chosen]
            yield fork, wording
            fork = wording.below[wording.chosen]

    def _place(self, turn: Turn) -> tuple[Fork, Wording]:
        """Of a turn on the shown branch."""
        return next(place for place in self._way() if place[1].turns[place[1].chosen] is turn)

    def _number(self) -> None:
        for fork, wording in self._way():
            turn = wording.turns[wording.chosen]
            turn.wordings = (fork.chosen + 1, len(fork.wordings))
            turn.answers = (wording.chosen + 1, len(wording.turns))
