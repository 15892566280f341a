"""Heads that learn from use: what a model said to its person is what its heads should foresee.

Answers are taken from the conversations kept on this machine, with the exact tokens of their step traces. A tenth of
the answers is never trained on; it decides whether what was learned is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from accelerate import Accelerator
from transformers import PreTrainedTokenizerBase

from medusa_chat.chats import messages
from medusa_chat.chats.conversations import lessons_allowed
from medusa_chat.chats.database import Database
from medusa_chat.chats.records import Conversation as Chat
from medusa_chat.chats.records import Message
from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.shapes.calibration import Calibration
from medusa_chat.engine.shapes.dynamic import DynamicShape
from medusa_chat.engine.text.template import render
from medusa_chat.heads.medusa import MedusaHeads
from medusa_chat.training import medusa1
from medusa_chat.training.calibrate import RANKS
from medusa_chat.training.conversations import Conversation, cut
from medusa_chat.training.guess_table import tabulate
from medusa_chat.training.hidden import HiddenStates
from medusa_chat.training.loop import Report
from medusa_chat.training.material import Split, prepare
from medusa_chat.training.recipe import Recipe
from medusa_chat.training.walk import accepted_at, tokens_per_step

HELD_OUT = 0.1
BETTER = 1.01
"""How much longer accepted paths must get for new heads to be used."""
ENOUGH = 20
"""Answers below which nothing is tried."""


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer of the model, by exact tokens."""

    message: int
    """Its id."""
    conversation: Conversation


@dataclass(frozen=True, slots=True)
class Learned:
    """What a lesson came to."""

    heads: MedusaHeads
    answers: int
    """Trained on; the held-out ones come on top."""
    held_out: int
    before: float
    """Mean accepted length on the held-out answers, at `nodes` nodes."""
    after: float
    nodes: int

    @property
    def better(self) -> bool:
        return self.after >= BETTER * self.before


def answered(db: Database, model: str, tokenizer: PreTrainedTokenizerBase) -> list[Answered]:
    """Every answer of this model with a step trace, in conversations that were not excluded."""
    found: list[Answered] = []
    for chat in lessons_allowed(db):
        found += _of_chat(db, chat, model, tokenizer)
    return found


def _of_chat(db: Database, chat: Chat, model: str, tokenizer: PreTrainedTokenizerBase) -> Iterator[Answered]:
    above: dict[int, Message] = {}
    for message in messages.tree(db, chat.id):
        above[message.id] = message
        if message.role != "assistant" or (message.settings or {}).get("model") != model:
            continue
        said = [token for step in _steps(db, message.id) for token in step]
        asked = _asked(chat.system, message, above)
        if not said or not asked:
            continue
        try:
            prompt = render(tokenizer, asked)
        except MedusaError:
            # Such a conversation was never answered as it stands: a template that refuses it teaches nothing.
            continue
        sampled = float((message.settings or {}).get("sampling", {}).get("temperature", 0.0)) > 0
        yield Answered(message.id, Conversation.single(prompt, said, sampled))


def _steps(db: Database, message: int) -> list[tuple[int, ...]]:
    try:
        return [step.kept for step in messages.steps_of(db, message)]
    except MedusaError:
        return []


def _asked(system: str, answer: Message, above: dict[int, Message]) -> list[dict[str, str]]:
    """The conversation as the model read it, without the answer."""
    said: list[dict[str, str]] = []
    place = answer.parent
    while place is not None:
        message = above[place]
        if message.content.strip():
            said.append({"role": message.role, "content": message.content})
        place = message.parent
    said.reverse()
    if not said or said[-1]["role"] != "user":
        return []
    return [{"role": "system", "content": system}, *said] if system else said


def parted(answers: Sequence[Answered], context: int) -> Split:
    """A tenth, chosen by message id, so that an answer stays on its side in every lesson, is held out.

    Raises:
        MedusaError: there is too little to learn from yet.
    """
    train: list[Conversation] = []
    test: list[Conversation] = []
    for one in answers:
        fitting = cut(one.conversation, context)
        if fitting is not None:
            (test if _held_out(one.message) else train).append(fitting)
    if len(train) + len(test) < ENOUGH or not test:
        raise MedusaError(
            f"There are {len(train) + len(test)} answers to learn from yet; {ENOUGH} are needed, some of them to test with."
        )
    return Split(tuple(train), tuple(test), len(answers) - len(train) - len(test))


def _held_out(message: int) -> bool:
    digest = blake2b(str(message).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64 < HELD_OUT


def learn(
    backbone: Backbone,
    heads: MedusaHeads,
    calibration: Calibration | None,
    split: Split,
    folder: Path,
    recipe: Recipe,
    nodes: int,
    report: Report,
) -> Learned:
    """Train heads further and measure both on the held-out answers; goes on from the folder's checkpoint.

    Args:
        heads: those in use; they are changed.
        nodes: of the trees that are compared.
    """
    material = prepare(backbone, split, folder / "hidden", recipe, report, heads)
    before = length(heads, material.test, calibration, nodes)
    alone = Accelerator(cpu=backbone.device.type == "cpu")
    trained = medusa1.train_on(material, split, heads, folder, recipe, report, alone)
    after = length(trained.heads, material.test, calibration, nodes)
    return Learned(trained.heads, len(split.train), len(split.test), before, after, nodes)


def length(heads: MedusaHeads, states: HiddenStates, calibration: Calibration | None, nodes: int) -> float:
    """Mean accepted length when these answers are decoded again with heads alone."""
    heads.eval()
    table = tabulate(heads, states, min(RANKS, heads.output.shape[-2]))
    return tokens_per_step(accepted_at(table, DynamicShape(calibration), nodes), table, nodes)
