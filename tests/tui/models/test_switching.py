"""Another model without a restart: what becomes of the answer, the question that waits, and a load that fails."""

from __future__ import annotations

import pytest
from doubles.scripted_engine import ScriptedEngine

from medusa_chat.host.messages import Cancel, Failed, Generate, Load, Loaded
from medusa_chat.tui.chat.status import StatusLine

NO_MEMORY = Failed("memory", "Memory ran out; close other programs, then try again.")


class Refusing(ScriptedEngine):
    """Loads "tiny" alone."""

    def send(self, request):
        if isinstance(request, Load) and request.model != "tiny":
            self.requests.append(request)
            self.emit(NO_MEMORY)
        else:
            super().send(request)


async def test_a_running_answer_ends_and_what_was_written_stays(open_chat):
    async with open_chat("One two three four five.") as chat:
        await chat.ask()
        chat.engine.play(2)
        turn = chat.screen.dialogue.turns[-1]
        await chat.until(lambda: turn.tally.steps == 2)
        chat.screen.dialogue.load("other", "int8")
        await chat.until(lambda: chat.screen.dialogue.loaded.model == "other")
        assert [type(request) for request in chat.engine.requests[-2:]] == [Cancel, Load]
        assert turn.reason == "cancelled"
        assert turn.text
        await chat.until(lambda: "stopped" in chat.note())
        await chat.ask("And now?")
        messages = chat.engine.sent(Generate)[-1].messages
        assert [message.content for message in messages][-1] == "And now?"
        assert messages[1].content == turn.text


async def test_a_question_that_waits_is_answered_by_the_new_model(open_chat):
    async with open_chat("Paris.") as chat:
        engine = chat.engine
        held = []
        engine.emit, emit = lambda *events: held.extend(events), engine.emit
        chat.screen.dialogue.load("other")
        assert chat.screen.dialogue.loading is not None
        chat.composer.text = "Who are you?"
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.screen.dialogue.waiting)
        await chat.until(lambda: "loading other" in chat.shown(chat.screen.query_one(StatusLine)))
        chat.screen.dialogue.load("third")
        assert not engine.sent(Generate)
        engine.emit = emit
        emit(held[-1])
        await chat.until(lambda: engine.sent(Generate))
        assert chat.screen.dialogue.loaded.model == "third"


async def test_where_a_model_cannot_be_loaded_the_one_before_comes_back(open_chat):
    async with open_chat(engine=Refusing("Paris.")) as chat:
        chat.screen.dialogue.load("other", "int8")
        await chat.until(lambda: chat.engine.sent(Load)[-1] == Load("tiny"))
        await chat.sees("Until then tiny is loaded again.", ".problem")
        await chat.until(lambda: chat.screen.dialogue.loading is None)
        assert chat.screen.dialogue.model.trouble.startswith(NO_MEMORY.advice)
        await chat.ask()
        await chat.finish()
        assert chat.answer_source == "Paris."


async def test_the_first_load_that_fails_only_tells(open_chat):
    async with open_chat(engine=Failing("Paris."), ready=False) as chat:
        await chat.sees("Memory ran out", ".problem")
        assert len(chat.engine.sent(Load)) == 1


class Failing(ScriptedEngine):
    def send(self, request):
        self.requests.append(request)
        if isinstance(request, Load):
            self.emit(NO_MEMORY)


@pytest.mark.parametrize("waits", [True, False])
async def test_the_old_model_answers_a_question_that_waited_for_the_new(open_chat, waits):
    async with open_chat(engine=Refusing("Paris.")) as chat:
        dialogue = chat.screen.dialogue
        dialogue.load("other")
        if waits:
            dialogue.ask("Capital of France?")
        await chat.until(lambda: isinstance(dialogue.loaded, Loaded) and dialogue.loading is None)
        await chat.until(lambda: bool(chat.engine.sent(Generate)) == waits)
