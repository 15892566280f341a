"""A person lets their heads learn from use; the process that would is a stand-in."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager

import pytest
from doubles.lessons import BETTER, WORSE, fails, lasts, says

from medusa_chat.chats import conversations, messages
from medusa_chat.chats.columns import Columns
from medusa_chat.chats.database import Database
from medusa_chat.chats.trace import TraceStep
from medusa_chat.settings.learning import Learning, learning, prefer_learning
from medusa_chat.settings.paths import chats_file
from medusa_chat.tui.chat.conversation_lines import Conversations
from medusa_chat.tui.learning import idleness, pupil, screen_part
from medusa_chat.tui.learning.knowledge import LESSONS
from medusa_chat.tui.settings.explaining import Explained
from medusa_chat.tui.settings.learning_rows import LearningRow
from medusa_chat.tui.settings.setting_list import SettingList


@pytest.fixture
def lessons(monkeypatch):
    """`lessons.follow = command`: what runs instead of `medusa-chat learn`; `lessons.begun`: for which model and share."""

    class Lessons:
        follow = lasts()
        begun: list = []  # noqa: RUF012

    def instead(model, share):
        Lessons.begun.append((model, share))
        return Lessons.follow

    Lessons.begun = []
    monkeypatch.setattr(pupil, "command", instead)
    monkeypatch.setattr(screen_part, "on_battery", lambda: False)
    return Lessons


@pytest.fixture
def _quick(monkeypatch):
    """Nobody is here as soon as nothing was pressed for half a second."""
    monkeypatch.setattr(idleness, "IDLE_SECONDS", 0.5)
    monkeypatch.setattr(idleness, "ASK_EVERY", 0.1)


def answered(count: int, private: bool = False) -> None:
    """Answers of the model "tiny"."""
    db = Database(chats_file())
    chat = conversations.create(db)
    step = TraceStep(((5, ""),), (-1,), (1.0,), ("root",), (0,), (5,), "a", (1.0,) * 5)
    for _ in range(count):
        question = messages.add(db, chat, None, "user", "What?")
        answer = messages.add(db, chat, question, "assistant", "a", "unfinished")
        messages.finish(db, answer, "finished", {"model": "tiny"}, {}, Columns([step]))
    conversations.keep_private(db, chat, private)
    db.close()


def looks_at_nobody(monkeypatch) -> list[float]:
    """Seconds since somebody was here, of every look that found them long gone."""
    looks, look = [], idleness.Idleness.look

    def watched(self, now, *rest):
        if (since := now - self.touched) > idleness.IDLE_SECONDS + idleness.ASK_EVERY:
            looks.append(since)
        return look(self, now, *rest)

    monkeypatch.setattr(idleness.Idleness, "look", watched)
    return looks


@asynccontextmanager
async def settled(open_chat, **options):
    """The chat, once it is known whether the model can learn."""
    async with open_chat("Paris.", **options) as chat:
        await chat.until(lambda: chat.screen._learnt.able)
        yield chat


async def at(chat, label: str) -> SettingList:
    """The settings panel, with the cursor on that row."""
    await chat.pilot.press("ctrl+s")
    await chat.until(lambda: chat.screen.query(SettingList) and chat.screen.query_one(SettingList).has_focus)
    rows = chat.screen.query_one(SettingList)
    await chat.pilot.press("G")
    for _ in range(6):
        if isinstance(rows.row, LearningRow) and rows.row.label == label:
            return rows
        await chat.pilot.press("up")
    raise AssertionError(label)


def said(chat) -> str:
    return str(chat.screen.query_one(Explained).render())


async def test_it_is_off_until_it_is_switched_on_and_then_says_what_happens(open_chat, store, lessons):
    async with settled(open_chat) as chat:
        await at(chat, "learn")
        await chat.pilot.press("right")
        await chat.until(lambda: learning().enabled)
        await chat.until(lambda: any("only on this machine" in toast for toast in chat.toasts))
        await chat.pilot.press("down", "left")
        await chat.until(lambda: learning() == Learning(True, 0.25))
        await chat.pilot.press("up", "enter")
        await chat.until(lambda: not learning().enabled)
    assert lessons.begun == []


@pytest.mark.usefixtures("_quick")
async def test_heads_learn_once_nobody_is_here_and_it_is_told_when_somebody_is(open_chat, store, lessons):
    prefer_learning(Learning(True, 0.5))
    answered(25)
    lessons.follow = says(BETTER)
    async with settled(open_chat) as chat:
        (store / LESSONS).write_text(json.dumps(BETTER) + "\n")
        await chat.until(lambda: lessons.begun == [("tiny", 0.5)])
        await chat.until(lambda: chat.screen._untold)
        assert not any("learned" in toast for toast in chat.toasts)
        await chat.pilot.press("a")
        await chat.until(lambda: any("Your heads learned from 84 answers: 2.31" in toast for toast in chat.toasts))
        await at(chat, "last lesson")
        await chat.sees("2.22 → 2.31", SettingList)
        await chat.until(lambda: "84 answers" in said(chat))


@pytest.mark.usefixtures("_quick")
@pytest.mark.parametrize("ending", ["key", "question", "off"])
async def test_a_lesson_ends_at_once_when_the_person_is_back(open_chat, store, lessons, ending):
    prefer_learning(Learning(True))
    answered(25)
    async with settled(open_chat) as chat:
        await chat.until(lambda: chat.screen._learnt.running)
        learner = chat.screen._pupil
        if ending == "key":
            await chat.pilot.press("a")
        elif ending == "question":
            chat.screen.dialogue.ask("What?")
        else:
            await chat.screen._wish_learning(Learning(False))
        await chat.until(lambda: learner.outcome is not None and not chat.screen._learnt.running)
        assert learner._process.poll() is not None
        assert not any("heads" in toast for toast in chat.toasts)


@pytest.mark.usefixtures("_quick")
async def test_the_end_of_the_app_ends_it(open_chat, store, lessons):
    prefer_learning(Learning(True))
    answered(25)
    async with settled(open_chat) as chat:
        await chat.until(lambda: chat.screen._learnt.running)
        learner = chat.screen._pupil
    assert learner._process.poll() is not None


@pytest.mark.usefixtures("_quick")
@pytest.mark.parametrize("hindrance", ["few", "private", "battery", "off", "pull"])
async def test_nothing_is_learned_where_it_should_not_be(open_chat, store, lessons, monkeypatch, hindrance):
    prefer_learning(Learning(hindrance != "off"))
    answered(3 if hindrance == "few" else 30, private=hindrance == "private")
    asked = []
    monkeypatch.setattr(screen_part, "on_battery", lambda: asked.append(1) or hindrance == "battery")
    looks = looks_at_nobody(monkeypatch)
    if hindrance == "pull":
        monkeypatch.setattr(screen_part.LearningScreen, "_pulling", True)
    async with settled(open_chat) as chat:
        await chat.until(lambda: len(looks) >= 5)
        await chat.until(lambda: not any(worker.group == "begin-lesson" for worker in chat.app.workers))
        assert lessons.begun == []
        assert bool(asked) == (hindrance == "battery")


async def test_the_person_may_begin_a_lesson_and_end_it(open_chat, store, lessons):
    async with settled(open_chat) as chat:
        await at(chat, "last lesson")
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.screen._learnt.running)
        await chat.sees("learning …", SettingList)
        await chat.pilot.press("j", "k")
        assert chat.screen._learnt.running
        await chat.pilot.press("enter")
        await chat.until(lambda: not chat.screen._learnt.running)
        assert len(lessons.begun) == 1


@pytest.mark.parametrize(
    ("follow", "told"),
    [(says(WORSE), "thrown away"), (fails("There are 3 answers to learn from yet."), "There are 3 answers")],
    ids=["not better", "failed"],
)
async def test_what_came_of_it_is_told(open_chat, store, lessons, follow, told):
    lessons.follow = follow
    async with settled(open_chat) as chat:
        chat.screen.learn_now()
        await chat.until(lambda: any(told in toast for toast in chat.toasts))


async def test_enter_twice_goes_back_to_the_shipped_heads(open_chat, store, lessons):
    (store / "learned").mkdir()
    async with settled(open_chat) as chat:
        await at(chat, "heads in use")
        await chat.pilot.press("enter")
        await chat.until(lambda: "once more" in said(chat))
        await chat.pilot.press("up", "down", "enter")
        await chat.until(lambda: "once more" in said(chat))
        assert (store / "learned").is_dir()
        await chat.pilot.press("enter")
        await chat.until(lambda: not (store / "learned").exists())
        await chat.until(lambda: "shipped" in chat.shown(chat.screen.query_one(SettingList)))
        await chat.pilot.press("enter")
        await chat.until(lambda: "nothing to go back from" in said(chat))


async def test_a_model_without_a_card_cannot_learn_and_says_so(open_chat, lessons):
    async with open_chat("Paris.") as chat:
        await chat.until(lambda: chat.screen._learnt.reason)
        await at(chat, "learn")
        await chat.until(lambda: "add it with F11" in said(chat))
        chat.screen.learn_now()
        await chat.until(lambda: any("add it with F11" in toast for toast in chat.toasts))


async def test_a_conversation_is_kept_private_and_marked(open_chat, store):
    async with open_chat("Paris.", size=(200, 50)) as chat:
        await chat.ask()
        await chat.finish()
        await chat.pilot.press("ctrl+b")
        await chat.until(lambda: chat.screen.query_one(Conversations).has_focus)
        lines = chat.screen.query_one(Conversations)
        await chat.until(lambda: lines.highlighted is not None)
        await chat.pilot.press("p")
        await chat.until(lambda: any("⊘" in str(option.prompt) for option in lines.options))
        db = Database(chats_file())
        assert conversations.lessons_allowed(db) == []
        await chat.pilot.press("p")
        await chat.until(lambda: not any("⊘" in str(option.prompt) for option in lines.options))
        assert len(conversations.lessons_allowed(db)) == 1
        chat.screen._keep_private()
        await chat.until(lambda: any("⊘" in str(option.prompt) for option in lines.options))
        assert conversations.newest(db, 1)[0].private
        db.close()
