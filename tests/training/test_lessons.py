"""What heads may learn from: exact tokens, the right prompts, a tenth left out."""

from __future__ import annotations

from pathlib import Path

import pytest
from doubles.branches import beside
from doubles.small_tokenizers import byte_level

from medusa_chat.chats import conversations, messages
from medusa_chat.chats.columns import Columns
from medusa_chat.chats.database import Database
from medusa_chat.chats.trace import TraceStep
from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.text.template import render
from medusa_chat.training.conversations import Conversation
from medusa_chat.training.lessons import Answered, answered, parted

TOKENIZER = byte_level()


@pytest.fixture
def db(tmp_path: Path) -> Database:
    return Database(tmp_path / "chats.db")


def say(db: Database, chat: int, above: int | None, question: str, *kept: tuple[int, ...], heat: float = 0.0) -> int:
    asked = messages.add(db, chat, above, "user", question)
    answer = messages.add(db, chat, asked, "assistant", "words", "unfinished")
    steps = [TraceStep(((9, "x"),), (-1,), (1.0,), ("root",), (0,), one, "x", (1.0,) * 5) for one in kept]
    messages.finish(db, answer, "finished", {"model": "mine", "sampling": {"temperature": heat}}, {}, Columns(steps))
    return answer


def test_every_branch_is_read_as_the_model_read_it(db: Database) -> None:
    chat = conversations.create(db, "Be brief.")
    first = say(db, chat, None, "One?", (40, 41), (42,))
    second = say(db, chat, first, "Two?", (50,), heat=0.7)
    other = beside(db, second, "other words")
    messages.finish(db, other, "stopped", {"model": "mine"}, {})
    found = answered(db, "mine", TOKENIZER)
    system, one = {"role": "system", "content": "Be brief."}, {"role": "user", "content": "One?"}
    further = [system, one, {"role": "assistant", "content": "words"}, {"role": "user", "content": "Two?"}]
    assert found == [
        Answered(first, Conversation.single(render(TOKENIZER, [system, one]), (40, 41, 42))),
        Answered(second, Conversation.single(render(TOKENIZER, further), (50,), sampled=True)),
    ]


def test_damaged_traces_and_other_models_teach_nothing(db: Database) -> None:
    chat = conversations.create(db)
    one = say(db, chat, None, "One?", (40,))
    db.run("UPDATE trace SET steps = ? WHERE message = ?", b"broken", one)
    other = say(db, chat, one, "Two?", (41,))
    db.run("UPDATE message SET settings = ? WHERE id = ?", '{"model": "another"}', other)
    assert answered(db, "mine", TOKENIZER) == []


def test_a_tenth_is_held_out_and_stays_so() -> None:
    many = [Answered(number, Conversation.single((5, 6), (7, 8, 9))) for number in range(1, 1_001)]
    split = parted(many, 100)
    assert 60 < len(split.test) < 140
    assert len(split.train) + len(split.test) == 1_000
    more = parted([*many, Answered(5_000, Conversation.single((5,), (6, 7)))], 100)
    assert abs(len(more.test) - len(split.test)) <= 1


def test_answers_behind_the_context_are_counted() -> None:
    many = [Answered(number, Conversation.single((5, 6), (7, 8, 9))) for number in range(1, 101)]
    split = parted([*many, Answered(101, Conversation.single(range(20), (7, 8)))], 10)
    assert split.passed_over == 1


def test_too_little_is_said_so() -> None:
    with pytest.raises(MedusaError, match="There are 3 answers to learn from yet; 20 are needed"):
        parted([Answered(number, Conversation.single((5, 6), (7, 8))) for number in range(3)], 100)
