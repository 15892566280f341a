"""A conversation, from the first key to the last token."""

from __future__ import annotations

from dataclasses import replace

from doubles.scripted_engine import LOADED, ScriptedEngine
from doubles.step_records import steps_of
from textual import events
from textual.widgets import Static

from medusa_chat.host.messages import Cancel, ChatMessage, Failed, Finished, Generate, Load, Progress, Statistics
from medusa_chat.tui.chat.answer import AnswerView
from medusa_chat.tui.chat.composer import READY
from medusa_chat.tui.chat.keys import CHAT_BINDINGS
from medusa_chat.tui.chat.live_text import LiveText
from medusa_chat.tui.chat.screen import ChatScreen
from medusa_chat.tui.chat.status import StatusLine
from medusa_chat.tui.chat.transcript import LIVE_ANSWERS, Transcript
from medusa_chat.tui.chat.welcome import Welcome

LONG = "\n\n".join(f"Paragraph {number} of an answer that fills the screen and more." for number in range(40))
MARKDOWN = "# Title\n\nSome *text* with `code`.\n\n1. one\n2. two\n\n```python\nprint(1)\n```\n\nThe end."


async def test_every_token_is_shown_and_the_summary_says_how_it_went(open_chat):
    async with open_chat(MARKDOWN) as chat:
        await chat.ask()
        chat.engine.play(4)
        written = "".join(step.text for step in steps_of(MARKDOWN)[:4])
        await chat.until(lambda: chat.answer_source == written)
        await chat.finish()
        assert chat.answer_source == MARKDOWN
        tally = chat.answer.turn.tally
        figures = f"{tally.tokens_per_second:.1f} tokens/s · {tally.acceleration_rate:.2f} tokens/step"
        assert chat.note().startswith(f"{tally.tokens} tokens · {tally.ms / 1000:.1f} s · {figures}")
        assert chat.note().endswith("complete")
        assert chat.composer.border_subtitle == READY


async def test_first_the_screen_then_the_engine(open_chat):
    class Slow(ScriptedEngine):
        def send(self, request):
            if isinstance(request, Load):
                self.requests.append(request)
                self.emit(Progress("reading weights", 0.5))
            else:
                super().send(request)

    async with open_chat(engine=Slow("Paris."), ready=False) as chat:
        await chat.until(lambda: chat.engine.sent(Load))
        await chat.until(lambda: "reading weights" in chat.shown(chat.screen.query_one(StatusLine)))
        await chat.sees(" 50 %", StatusLine)
        chat.composer.text = "Asked early?"
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.screen.query(AnswerView))
        assert not chat.engine.sent(Generate)
        chat.engine.emit(LOADED)
        await chat.until(lambda: chat.engine.sent(Generate))
        await chat.finish()
        assert chat.answer_source == "Paris."


async def test_a_prompt_from_the_command_line_is_asked_once_the_model_is_ready(open_chat):
    async with open_chat("Paris.", prompt="Capital of France?") as chat:
        await chat.until(lambda: chat.engine.sent(Generate))
        assert chat.engine.sent(Generate)[0].messages == (ChatMessage("user", "Capital of France?"),)


async def test_the_whole_conversation_is_sent_again_with_each_question(open_chat):
    async with open_chat("First answer.", "Second answer.") as chat:
        await chat.ask("One?")
        await chat.finish()
        await chat.ask("Two?")
        assert chat.engine.sent(Generate)[-1].messages == (
            ChatMessage("user", "One?"),
            ChatMessage("assistant", "First answer."),
            ChatMessage("user", "Two?"),
        )
        assert chat.engine.sent(Generate)[-1].answer != chat.engine.sent(Generate)[0].answer


async def test_escape_stops_and_keeps_what_was_written_and_typed(open_chat):
    async with open_chat(MARKDOWN) as chat:
        await chat.ask()
        chat.engine.play(5)
        written = "".join(step.text for step in steps_of(MARKDOWN)[:5])
        await chat.until(lambda: chat.answer_source == written)
        chat.composer.text = "half a thought"
        await chat.pilot.press("escape")
        await chat.until(chat.note)
        assert len(chat.engine.sent(Cancel)) == 1
        assert chat.answer_source == written
        assert chat.note().endswith("stopped")
        assert chat.composer.text == "half a thought"


async def test_text_held_back_until_the_stop_is_shown(open_chat):
    async with open_chat(MARKDOWN) as chat:
        await chat.ask()
        chat.engine.play(3)
        written = "".join(step.text for step in steps_of(MARKDOWN)[:3])
        await chat.until(lambda: chat.answer_source == written)
        statistics = Statistics(prompt_tokens=9, tokens=3, steps=3, seconds=0.1, prefill_seconds=0.1, plain_ms=10.0)
        chat.engine.emit(Finished(chat.screen.dialogue.turns[-1].answer, "cancelled", statistics, text=" held"))
        await chat.until(chat.note)
        assert chat.answer_source == written + " held"


async def test_a_refused_setting_leaves_the_answer_running(open_chat):
    async with open_chat(MARKDOWN) as chat:
        await chat.ask()
        chat.engine.play(3)
        written = "".join(step.text for step in steps_of(MARKDOWN)[:3])
        await chat.until(lambda: chat.answer_source == written)
        chat.engine.emit(Failed("refused", "These heads were never calibrated."))
        await chat.until(lambda: chat.screen.query(".problem"))
        assert chat.screen.dialogue.busy
        await chat.finish()
        assert chat.answer_source == "".join(step.text for step in steps_of(MARKDOWN))


async def test_escape_without_an_answer_leads_back_to_the_composer(open_chat):
    async with open_chat() as chat:
        chat.composer.text = "typed"
        await chat.pilot.press("tab")
        assert not chat.composer.has_focus
        await chat.pilot.press("escape")
        assert chat.composer.has_focus
        assert not chat.engine.sent(Cancel)
        assert chat.composer.text == "typed"


async def test_enter_sends_and_ctrl_j_and_shift_enter_make_lines(open_chat):
    async with open_chat() as chat:
        await chat.pilot.press("a", "ctrl+j", "b", "shift+enter", "c", "enter")
        await chat.until(lambda: chat.engine.sent(Generate))
        assert chat.engine.sent(Generate)[0].messages[-1].content == "a\nb\nc"
        assert chat.composer.text == ""


async def test_keys_that_arrive_in_one_burst_keep_their_order(open_chat):
    async with open_chat("One.", "Two.") as chat:
        for key in [*"abc", "ctrl+j", *"d", "enter", *"ef"]:
            chat.app.simulate_key(key)
        await chat.until(lambda: chat.engine.sent(Generate) and chat.composer.text)
        assert chat.engine.sent(Generate)[0].messages[-1].content == "abc\nd"
        await chat.until(lambda: chat.composer.text == "ef")


async def test_what_rubs_out_or_moves_is_not_overtaken_by_what_is_typed_behind_it(open_chat):
    async with open_chat() as chat:
        for key in [
            "a",
            "b",
            "backspace",
            "c",
            "left",
            "d",
            "end",
            "e",
            "ctrl+u",
            "f",
            "g",
            "home",
            "h",
            "ctrl+k",
            "i",
        ]:
            chat.app.simulate_key(key)
        await chat.until(lambda: chat.composer.text.endswith("i"))
        assert chat.composer.text == "hi"
        chat.app.simulate_key("ctrl+z")
        await chat.until(lambda: chat.composer.text != "hi")


async def test_what_is_typed_without_focus_reaches_the_composer(open_chat):
    async with open_chat("One.") as chat:
        chat.screen.set_focus(None)
        for key in [*"hey", "enter", *"you"]:
            chat.app.simulate_key(key)
        await chat.until(lambda: chat.composer.text == "you" and chat.engine.sent(Generate))
        assert chat.engine.sent(Generate)[0].messages[-1].content == "hey"


async def test_blank_text_is_not_sent(open_chat):
    async with open_chat() as chat:
        await chat.pilot.press("space", "ctrl+j", "enter")
        assert not chat.engine.sent(Generate)


async def test_a_failure_becomes_part_of_the_conversation(open_chat):
    async with open_chat(MARKDOWN, "Better now.") as chat:
        await chat.ask("One?")
        chat.engine.play(3)
        written = "".join(step.text for step in steps_of(MARKDOWN)[:3])
        chat.composer.text = "typed meanwhile"
        advice = "The engine [/ended] unexpectedly; ask again to restart it."
        chat.engine.emit(Failed("died", advice, answer=chat.answer.turn.answer))
        await chat.until(chat.note)
        assert advice in chat.note()
        assert chat.answer_source == written
        assert chat.composer.text == "typed meanwhile"
        await chat.ask("Two?")
        assert [message.content for message in chat.engine.sent(Generate)[-1].messages] == ["One?", written, "Two?"]
        await chat.finish()
        assert chat.answer_source == "Better now."


async def test_a_question_that_failed_without_a_word_can_be_sent_again(open_chat):
    async with open_chat("Paris.") as chat:
        await chat.ask("One?")
        chat.engine.emit(Failed("refused", "The conversation is too long.", answer=chat.answer.turn.answer))
        await chat.until(lambda: chat.composer.text == "One?")
        await chat.pilot.press("enter")
        await chat.until(lambda: len(chat.engine.sent(Generate)) == 2)
        assert [message.content for message in chat.engine.sent(Generate)[-1].messages] == ["One?"]


async def test_a_failure_to_load_is_told_and_the_question_survives(open_chat):
    class Broken(ScriptedEngine):
        def send(self, request):
            self.requests.append(request)
            self.emit(Failed("refused", "There is no model [tiny]; see medusa-chat models list."))

    async with open_chat(engine=Broken("x"), prompt="Hello?", ready=False) as chat:
        await chat.until(lambda: chat.composer.text == "Hello?")
        await chat.until(lambda: "There is no model [tiny]" in chat.note())
    async with open_chat(engine=Broken("x"), ready=False) as chat:
        await chat.sees("There is no model [tiny]", ".problem")


async def test_late_events_of_another_answer_are_ignored(open_chat):
    async with open_chat(MARKDOWN, "Fresh.") as chat:
        await chat.ask()
        chat.engine.play(3)
        await chat.until(lambda: chat.answer_source)
        await chat.pilot.press("ctrl+n")
        await chat.until(lambda: not chat.screen.query(AnswerView) and chat.screen.query(Welcome))
        await chat.ask("New?")
        assert chat.engine.sent(Generate)[-1].messages == (ChatMessage("user", "New?"),)
        await chat.finish()
        assert chat.answer_source == "Fresh."
        assert chat.answer.turn.tally.steps == len(steps_of("Fresh."))


async def test_foreign_text_is_shown_as_it_is(open_chat):
    nasty = (
        "[/oops] [bold]b[/bold] [link=http://x]y \x1b[31mred\x1b[0m <b>html</b> [text](http://evil) &amp; \u202eright"
    )
    safe = "[/oops] [bold]b[/bold] [link=http://x]y ␛[31mred␛[0m <b>html</b> [text](http://evil) &amp; �right"
    async with open_chat(nasty) as chat:
        await chat.ask(nasty)
        await chat.finish()
        question = chat.screen.query(".question").first(Static)
        answer = chat.answer.query_one(".frozen")
        for widget in (question, answer):
            await chat.until(lambda widget=widget: chat.shown(widget).replace("\n", " ").split() == safe.split())
        for widget in (question, answer):
            assert not any(
                segment.style and (segment.style.link or segment.style.meta.get("@click"))
                for row in range(widget.size.height)
                for segment in widget.render_line(row)
            )
        assert chat.engine.sent(Generate)[0].messages[0].content == nasty


async def test_it_follows_only_from_the_bottom(open_chat):
    async with open_chat(LONG, size=(80, 24)) as chat:
        await chat.ask()
        transcript = chat.screen.query_one(Transcript)
        chat.engine.play(80)
        await chat.until(lambda: transcript.max_scroll_y > 5 and transcript.scroll_y == transcript.max_scroll_y)
        await chat.pilot.press("pageup")
        await chat.until(lambda: not transcript.following)
        held, bottom = transcript.scroll_y, transcript.max_scroll_y
        chat.engine.play(80)
        await chat.until(lambda: transcript.max_scroll_y > bottom + 3)
        await chat.finish()
        assert transcript.scroll_y == held
        await chat.until(lambda: "new lines" in chat.shown(chat.screen.query_one(StatusLine)))
        await chat.pilot.press("ctrl+end")
        await chat.until(lambda: transcript.scroll_y == transcript.max_scroll_y)


async def test_a_short_conversation_starts_at_the_top(open_chat):
    async with open_chat("Paris.", size=(120, 40)) as chat:
        await chat.ask()
        await chat.finish()
        assert chat.screen.query_one(Transcript).scroll_y == 0
        assert chat.screen.query_one(Welcome).region.y <= 2


async def test_old_answers_are_frozen_but_still_there(open_chat):
    count = LIVE_ANSWERS + 2
    async with open_chat(*(f"Answer **{number}** here." for number in range(count))) as chat:
        for number in range(count):
            await chat.ask(f"Question {number}?")
            await chat.finish()
        await chat.until(lambda: len(chat.screen.query(LiveText)) <= LIVE_ANSWERS)
        frozen = chat.screen.query(".frozen")
        assert [str(static.render()).strip() for static in frozen] == [f"Answer {n} here." for n in range(count)]


async def test_no_heads_is_said_plainly(open_chat):
    bare = replace(LOADED, heads=0, notes=("The heads [x] belong to other weights.",))
    async with open_chat(loaded=bare) as chat:
        await chat.sees("The heads [x] belong to other weights.", Welcome)
        await chat.sees("Medusa off", "#panel-title")
    async with open_chat(loaded=replace(LOADED, heads=0), size=(80, 24)) as chat:
        await chat.sees("Medusa off: no heads found", Welcome)


async def test_the_palette_saves_a_picture(open_chat, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    async with open_chat() as chat:
        commands = {command.title: command.callback for command in chat.app.get_system_commands(chat.screen)}
        commands["Screenshot"]()
        await chat.until(lambda: any("Saved as" in toast for toast in chat.toasts))
    assert [path.suffix for path in tmp_path.glob("*.svg")] == [".svg"]


async def test_ctrl_c_twice_quits_and_the_engine_is_closed(open_chat):
    async with open_chat() as chat:
        await chat.pilot.press("ctrl+c")
        assert chat.app.is_running
        assert any("ctrl+c once more" in toast for toast in chat.toasts)
        await chat.pilot.press("ctrl+c")
    assert chat.engine.closed


async def test_keys_before_the_first_frame_break_nothing():
    """They may come while nothing is composed yet."""
    screen = ChatScreen(ScriptedEngine("x"), "tiny")
    for binding in CHAT_BINDINGS:
        assert screen.check_action(binding.action.partition("(")[0], ()) is False
    screen.on_key(events.Key("a", "a"))
