"""A conversation being made: the person's turns are given, or written by the model too."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from medusa_chat.training.continuous import Request
from medusa_chat.training.conversations import Conversation, Span
from medusa_chat.training.questions import Questions
from medusa_chat.training.scenes import Scene

QUESTION_TOKENS = 256
QUESTION_TEMPERATURE = 1.0
QUESTION_TOP_P = 0.95


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds for all conversations of a run."""

    scene: Scene
    eos_ids: frozenset[int]
    context: int
    """Tokens the model can hold."""
    max_tokens: int
    """Of each answer."""
    temperature: float
    """Of the answers that are not greedy."""


@dataclass(slots=True)
class Talk:
    """Where a conversation has got to."""

    salt: int
    """Tells its random numbers from those of all others."""
    greedy: bool
    ids: list[int]
    """All that stands fast; what is being written comes behind it."""
    turns: list[str] = field(default_factory=list)
    """Given turns of the person that are still to come."""
    to_ask: int = 0
    """Turns of the person that the model is still to write."""
    asking: bool = False
    """The model writes a turn of the person now."""
    spans: list[Span] = field(default_factory=list)
    written: list[int] = field(default_factory=list)
    """Of the turn or answer under way."""

    def request(self, terms: Terms) -> Request:
        """What the model is to write next."""
        room = terms.context - len(self.ids)
        # Every turn draws numbers of its own.
        salt = self.salt * 1_000 + 2 * len(self.spans) + self.asking
        if self.asking:
            limit, heat, top_p = min(QUESTION_TOKENS, room), QUESTION_TEMPERATURE, QUESTION_TOP_P
            stops = terms.eos_ids | {terms.scene.closing[0]}
        else:
            limit, heat, top_p = min(terms.max_tokens, room), 0.0 if self.greedy else terms.temperature, 1.0
            stops = terms.eos_ids
        return Request(tuple(self.ids), limit, salt, heat, top_p, stops, list(self.written))

    def take(self, request: Request, terms: Terms, questions: Questions) -> bool:
        """What the model wrote; True when there is more to write."""
        self.written = []
        ended = request.answer_ids[-1] in request.stop_ids
        if self.asking:
            return self._take_question(
                request.answer_ids[:-1] if ended else request.answer_ids, ended, terms, questions
            )
        self.spans.append((len(self.ids), len(self.ids) + len(request.answer_ids)))
        self.ids += request.answer_ids
        # An answer that was cut short ends the conversation: nobody goes on from half a sentence.
        return ended and self._go_on(terms)

    def _go_on(self, terms: Terms) -> bool:
        """The person's next turn; False where there is none, or no room for the whole answer to it."""
        if not self.turns and not self.to_ask:
            return False
        self.asking = not self.turns
        further = [*terms.scene.behind(self.ids)]
        if self.turns:
            further += [*terms.scene.spoken(self.turns[0]), *terms.scene.closing]
        if len(further) + terms.max_tokens + (QUESTION_TOKENS if self.asking else 0) > terms.context:
            return False
        self.ids, self.turns = further, self.turns[1:]
        return True

    def _take_question(self, ids: list[int], ended: bool, terms: Terms, questions: Questions) -> bool:
        self.to_ask -= 1
        tokenizer = terms.scene.tokenizer
        plain = not set(tokenizer.all_special_ids) & set(ids)
        if questions.take(str(tokenizer.decode(ids)) if plain else "", ended) is None:
            return False
        self.ids += [*ids, *terms.scene.closing]
        self.asking = False
        return True

    @property
    def conversation(self) -> Conversation:
        """As far as it was answered; what was asked behind the last answer is left out."""
        return Conversation(
            tuple(self.ids[: self.spans[-1][1]]) if self.spans else (), tuple(self.spans), not self.greedy
        )

    def to_dict(self, written: list[int]) -> dict[str, Any]:
        """JSON values; `written` is what there is of the turn or answer under way."""
        return {**asdict(self), "written": written}

    @classmethod
    def from_dict(cls, kept: dict[str, Any]) -> Talk:
        return cls(**{**kept, "spans": [tuple(span) for span in kept["spans"]]})
