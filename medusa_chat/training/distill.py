"""Self-distillation: the backbone itself answers, so that heads learn what it would really say.

Heads trained on other models' text start lower, because they are asked to foresee words the backbone never says
(Medusa paper, section 2.3.2 "self-distillation"; FasterDecoding/Medusa issues 79 and 85).
"""

from __future__ import annotations

import json
import os
import random
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from time import monotonic

from transformers import PreTrainedModel

from medusa_chat.engine.errors import MedusaError
from medusa_chat.training.continuous import Request, answer_all
from medusa_chat.training.conversations import Conversation, read_rows
from medusa_chat.training.prompts import Prompt
from medusa_chat.training.questions import Questions
from medusa_chat.training.talks import Talk, Terms

SAVE_EVERY = 10.0
"""Seconds between two notes of what is under way: what a killed run loses."""
WASTED = 40
"""Questions in a row without one that can be used, before the model is given up."""


@dataclass(frozen=True, slots=True)
class Progress:
    """After each finished conversation."""

    conversations: int
    """Written so far, those of earlier runs included."""
    of: int
    tokens: int
    """Answer tokens made in this run."""


class Distiller:
    """Makes conversations and appends them to a file, one row each. What was answered before is passed over, what was
    under way in a run that was killed goes on where it was noted last."""

    def __init__(
        self,
        terms: Terms,
        out: Path,
        *,
        greedy_share: float = 0.5,
        seed: int = 0,
        on_progress: Callable[[Progress], None] = lambda now: None,
    ) -> None:
        """
        Args:
            greedy_share: of the conversations; the others are sampled at the terms' temperature.

        Raises:
            MedusaError: `out` holds something else.
        """
        self.questions = Questions()
        self.left_out = 0
        """Prompts with no room for an answer in the context."""
        self._terms, self._out, self._greedy_share, self._seed = terms, out, greedy_share, seed
        self._notes = out.with_name(out.name + ".under-way")
        self._on_progress = on_progress
        self._rows = whole_rows(out)
        self._ready = deque(_noted(self._notes))
        self._talks: dict[int, tuple[Talk, Request]] = {}
        self._done = self._of = self._tokens = 0
        self._saved = monotonic()

    def answer(self, model: PreTrainedModel, prompts: Sequence[Prompt], batch: int) -> Progress:
        """Answer prompts, each distinct one once, `batch` of them together."""
        scene = self._terms.scene
        openings = {scene.begin(prompt.turns[0], prompt.system): prompt for prompt in reversed(prompts)}
        fitting = {ids: openings[ids] for ids in reversed(openings) if self._fits(ids)}
        self.left_out = len(openings) - len(fitting)
        known = {row.opening for row in self._rows} | {_opening(talk) for talk in self._ready}
        todo = [(ids, prompt) for ids, prompt in fitting.items() if ids not in known]
        random.Random(self._seed).shuffle(todo)
        self._of = len(fitting)
        self._done = self._of - len(todo) - len(self._ready)
        return self._run(model, (self._given(ids, prompt) for ids, prompt in todo), batch)

    def invent(self, model: PreTrainedModel, count: int, turns: int, batch: int) -> Progress:
        """Let the model ask and answer, until the file holds `count` conversations of up to `turns` turns.

        Raises:
            MedusaError: the model writes nothing that can be asked, or its template says not where a question ends.
        """
        if not self._terms.scene.closing:
            raise MedusaError("This model's chat template writes nothing behind a question: give --prompts.")
        scene = self._terms.scene
        for row in self._rows:
            asked = row.opening[len(scene.opening) : len(row.opening) - len(scene.closing)]
            self.questions.know(str(scene.tokenizer.decode(list(asked))))
        self._done, self._of = len(self._rows), count
        return self._run(model, self._invented(turns), batch)

    def _run(self, model: PreTrainedModel, fresh: Iterator[Talk | None], batch: int) -> Progress:
        with self._out.open("a", encoding="utf-8") as file:
            for request in answer_all(model, self._requests(fresh), batch, self._seed, lambda _: self._note()):
                talk, _ = self._talks.pop(id(request))
                self._tokens += 0 if talk.asking else len(request.answer_ids)
                if talk.take(request, self._terms, self.questions):
                    self._ready.append(talk)
                elif talk.spans:
                    file.write(talk.conversation.to_json() + "\n")
                    file.flush()
                    self._done += 1
                    self._on_progress(Progress(self._done, self._of, self._tokens))
        self._notes.unlink(missing_ok=True)
        return Progress(self._done, self._of, self._tokens)

    def _requests(self, fresh: Iterator[Talk | None]) -> Iterator[Request | None]:
        """Conversations under way come before new ones; None where one of those running must end first."""
        while True:
            talk = self._ready.popleft() if self._ready else next(fresh, None)
            if talk is None and not self._talks:
                return
            if talk is None:
                yield None
                continue
            request = talk.request(self._terms)
            self._talks[id(request)] = (talk, request)
            yield request

    def _given(self, ids: tuple[int, ...], prompt: Prompt) -> Talk:
        salt = int.from_bytes(blake2b(json.dumps(ids).encode(), digest_size=6).digest(), "big")
        return Talk(salt, self._greedy(salt), list(ids), turns=list(prompt.turns[1:]))

    def _invented(self, turns: int) -> Iterator[Talk | None]:
        # Behind all numbers that earlier runs can have come to.
        attempt = sum(len(row.ids) for row in self._rows)
        while self._done < self._of:
            if self._done + len(self._talks) >= self._of:
                # Enough are under way, but those whose question is of no use will want replacing.
                yield None
                continue
            if sum(self.questions.left_out.values()) > WASTED + 10 * self._done:
                reasons = ", ".join(f"{count} {reason}" for reason, count in self.questions.left_out.most_common())
                raise MedusaError(f"This model asks nothing that can be used ({reasons}): give --prompts.")
            attempt += 1
            yield Talk(attempt, self._greedy(attempt), list(self._terms.scene.opening), to_ask=turns, asking=True)

    def _greedy(self, salt: int) -> bool:
        """Decided by conversation and seed, so that a resumed run makes the same choice."""
        return random.Random(f"{self._seed}:{salt}").random() < self._greedy_share

    def _fits(self, ids: Sequence[int]) -> bool:
        return len(ids) + self._terms.max_tokens <= self._terms.context

    def _note(self) -> None:
        """What is under way, in one move."""
        if monotonic() - self._saved < SAVE_EVERY:
            return
        self._saved = monotonic()
        noted = [talk.to_dict(request.answer_ids) for talk, request in self._talks.values()]
        noted += [talk.to_dict([]) for talk in self._ready]
        temporary = self._notes.with_suffix(".tmp")
        temporary.write_text("".join(json.dumps(one) + "\n" for one in noted), encoding="utf-8")
        os.replace(temporary, self._notes)


def _opening(talk: Talk) -> tuple[int, ...]:
    return tuple(talk.ids[: talk.spans[0][0]] if talk.spans else talk.ids)


def _noted(path: Path) -> list[Talk]:
    """Conversations that a killed run had under way; what cannot be read is begun anew."""
    try:
        return [Talk.from_dict(json.loads(line)) for line in path.read_text(encoding="utf-8").split("\n") if line]
    except (OSError, ValueError, TypeError, KeyError):
        return []


def whole_rows(out: Path) -> list[Conversation]:
    """What is there already, after a broken last line (a killed run) was cut off."""
    if not out.exists():
        return []
    raw = out.read_bytes()
    whole = raw[: raw.rfind(b"\n") + 1]
    if whole != raw:
        out.write_bytes(whole)
    return read_rows(out)
