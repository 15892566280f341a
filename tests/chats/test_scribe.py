"""Writing down while it happens: at most once a second, nothing lost."""

from __future__ import annotations

import sqlite3

import pytest
from doubles.branches import siblings

from medusa_chat.chats import conversations, database, messages
from medusa_chat.chats.database import Database
from medusa_chat.chats.entries import Ending, nowhere
from medusa_chat.chats.scribe import Scribe
from medusa_chat.engine.errors import MedusaError

DONE = Ending("finished", {"model": "tiny"}, {"tokens": 2})


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def scribe(db, clock) -> Scribe:
    return Scribe(db, clock)


class Talk:
    """Asks one question below the other, knowing ids only when they are told."""

    def __init__(self, scribe: Scribe) -> None:
        self.scribe = scribe
        self.ids: list[tuple[int, int]] = []

    def ask(self, question: str) -> None:
        above = len(self.ids) - 1
        place = len(self.ids)
        self.ids.append((0, 0))

        def tell(question: int, answer: int) -> None:
            self.ids[place] = (question, answer)

        self.scribe.ask(question, nowhere if above < 0 else lambda: self.ids[above][1], tell)


def written(db: Database, scribe: Scribe) -> list[tuple[str, str]]:
    branch = messages.branch(db, scribe.conversation) if scribe.conversation is not None else []
    return [(message.content, message.state) for message in branch]


def test_a_question_is_written_at_once_and_text_once_a_second(db, scribe, clock):
    scribe.ask("Why?", nowhere)
    assert written(db, scribe) == [("Why?", "finished"), ("", "unfinished")]
    scribe.append("Be")
    scribe.append("cau")
    assert written(db, scribe)[-1] == ("", "unfinished")
    clock.now += 1
    scribe.append("se")
    assert written(db, scribe)[-1] == ("Because", "unfinished")
    scribe.append(" of")
    scribe.write_due()
    assert written(db, scribe)[-1] == ("Because", "unfinished")
    clock.now += 1
    scribe.write_due()
    assert written(db, scribe)[-1] == ("Because of", "unfinished")
    scribe.append(" it.")
    scribe.finish(DONE)
    assert written(db, scribe)[-1] == ("Because of it.", "finished")


def test_one_write_a_second_however_fast_it_comes(db, scribe, clock):
    scribe.ask("Why?", nowhere)
    writes: list[str] = []
    db._connection.set_trace_callback(lambda text: writes.append(text) if text.startswith("COMMIT") else None)
    for _ in range(1000):
        clock.now += 0.01
        scribe.append("x")
    assert 9 <= len(writes) <= 10


def test_a_crash_leaves_the_partial_marked(file, clock):
    db = Database(file)
    scribe = Scribe(db, clock)
    scribe.ask("Why?", nowhere)
    clock.now += 1
    scribe.append("Beca")
    conversation = scribe.conversation
    del scribe
    db.close()
    again = Database(file)
    assert [message.state for message in messages.branch(again, conversation)] == ["finished", "unfinished"]
    assert messages.branch(again, conversation)[-1].content == "Beca"
    again.close()


def test_closing_writes_what_waits(db, scribe):
    scribe.ask("Why?", nowhere)
    scribe.append("Beca")
    scribe.close()
    assert written(db, scribe)[-1] == ("Beca", "unfinished")


def test_a_conversation_goes_on_a_new_one_begins_and_the_old_one_can_be_continued(db, scribe):
    talk = Talk(scribe)
    for question in ("One?", "Two?"):
        talk.ask(question)
        scribe.append(question.lower())
        scribe.finish(DONE)
    first = scribe.conversation
    assert [text for text, _ in written(db, scribe)] == ["One?", "one?", "Two?", "two?"]
    scribe.start()
    assert scribe.conversation is None
    scribe.ask("Three?", nowhere)
    scribe.finish(DONE)
    assert scribe.conversation != first
    scribe.go_on(first)
    talk.ask("Four?")
    assert [text for text, _ in written(db, scribe)] == ["One?", "one?", "Two?", "two?", "Four?", ""]
    assert len(conversations.newest(db, 9)) == 2


def test_nothing_is_lost_while_another_program_holds_the_file(file, clock, monkeypatch):
    monkeypatch.setattr(database, "_WAIT_SECONDS", 0.01)
    db = Database(file)
    scribe = Scribe(db, clock)
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    talk = Talk(scribe)
    with pytest.raises(MedusaError, match="another program"):
        talk.ask("One?")
    scribe.append("one")
    with pytest.raises(MedusaError, match="another program"):
        scribe.finish(DONE)
    with pytest.raises(MedusaError, match="another program"):
        talk.ask("Two?")
    other.execute("ROLLBACK")
    clock.now += 1
    scribe.append("two")
    assert written(db, scribe) == [
        ("One?", "finished"),
        ("one", "finished"),
        ("Two?", "finished"),
        ("two", "unfinished"),
    ]
    other.close()
    db.close()


def test_text_without_a_question_belongs_nowhere(db, scribe):
    scribe.append("late")
    scribe.finish(DONE)
    assert conversations.newest(db, 9) == []


def test_edited_questions_and_further_answers_stand_beside_the_old_ones(db, scribe):
    talk = Talk(scribe)
    talk.ask("One?")
    scribe.append("one")
    scribe.finish(DONE)
    scribe.ask("One, reworded?", nowhere)
    scribe.finish(DONE)
    assert [text for text, _ in written(db, scribe)] == ["One, reworded?", ""]
    question, answer = talk.ids[0]
    scribe.choose(lambda: answer)
    assert [text for text, _ in written(db, scribe)] == ["One?", "one"]
    scribe.ask_again(lambda: question)
    scribe.append("one, again")
    scribe.finish(DONE)
    assert [text for text, _ in written(db, scribe)] == ["One?", "one, again"]
    assert len(siblings(db, question)) == len(siblings(db, answer)) == 2


def test_branches_made_while_the_disk_fails_are_written_in_order_afterwards(file, clock, monkeypatch):
    monkeypatch.setattr(database, "_WAIT_SECONDS", 0.01)
    db = Database(file)
    scribe = Scribe(db, clock)
    talk = Talk(scribe)
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    for work in (
        lambda: talk.ask("One?"),
        lambda: scribe.instruct("Be short."),
        lambda: scribe.finish(DONE),
        lambda: scribe.ask_again(lambda: talk.ids[0][0]),
        lambda: scribe.finish(DONE),
        lambda: scribe.ask("Reworded?", nowhere),
        lambda: scribe.finish(DONE),
        lambda: scribe.choose(lambda: talk.ids[0][1]),
    ):
        with pytest.raises(MedusaError, match="another program"):
            work()
    other.execute("ROLLBACK")
    scribe.close()
    assert [text for text, _ in written(db, scribe)] == ["One?", ""]
    assert messages.branch(db, scribe.conversation)[-1].id == talk.ids[0][1]
    assert len(messages.tree(db, scribe.conversation)) == 5
    assert conversations.get(db, scribe.conversation).system == "Be short."
    other.close()
    db.close()


def test_text_that_comes_after_an_instruction_that_waits_is_not_lost(file, clock, monkeypatch):
    monkeypatch.setattr(database, "_WAIT_SECONDS", 0.01)
    db = Database(file)
    scribe = Scribe(db, clock)
    scribe.ask("One?", nowhere)
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(MedusaError, match="another program"):
        scribe.instruct("Be short.")
    scribe.append("one")
    other.execute("ROLLBACK")
    scribe.finish(DONE)
    assert written(db, scribe) == [("One?", "finished"), ("one", "finished")]
    other.close()
    db.close()


def test_a_system_prompt_is_kept_before_and_after_the_first_question(db, scribe):
    scribe.start("Be kind.")
    scribe.ask("One?", nowhere)
    assert conversations.get(db, scribe.conversation).system == "Be kind."
    scribe.start()
    scribe.instruct("Be short.")
    scribe.ask("Two?", nowhere)
    assert conversations.get(db, scribe.conversation).system == "Be short."
    scribe.instruct("Be long.")
    assert conversations.get(db, scribe.conversation).system == "Be long."
