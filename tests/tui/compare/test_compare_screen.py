"""The compare screen, driven by keys: what it asks of the engine, and what it shows of the answers."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from doubles.comparisons import TEXT
from doubles.scripted_engine import LOADED, ScriptedEngine

from medusa_chat.engine.options import Decoding
from medusa_chat.host.messages import (
    Cancel,
    ChatMessage,
    Compare,
    Failed,
    Generate,
    Load,
    Pause,
    Progress,
    Resume,
    StepOnce,
)
from medusa_chat.tui.chat.screen import ChatScreen
from medusa_chat.tui.chat.status import StatusLine
from medusa_chat.tui.compare.lane_text import LaneText
from medusa_chat.tui.compare.prompt import PromptField
from medusa_chat.tui.compare.scoreboard import Scoreboard
from medusa_chat.tui.compare.screen import CompareScreen

QUESTION = "What is the capital of France?"
VERDICTS = ["= joint: ", "= medusa:"]
LONG = "\n".join(f"{number} is a number, and {number + 1} is the next." for number in range(40))


class Compared:
    """What a test needs of the open compare screen."""

    def __init__(self, chat) -> None:
        self.chat = chat
        self.engine = chat.engine
        self.press = chat.pilot.press
        self.until = chat.until

    @property
    def screen(self) -> CompareScreen:
        screen = self.chat.app.screen
        assert isinstance(screen, CompareScreen)
        return screen

    @property
    def requests(self) -> list[Compare]:
        return self.engine.sent(Compare)

    def names(self, request: int = -1) -> list[str]:
        return [lane.name for lane in self.requests[request].lanes]

    def lane(self, number: int) -> LaneText:
        return self.screen.query_one(f"#lane-{number}", LaneText)

    def shown(self, selector) -> str:
        return self.chat.shown(self.screen.query_one(selector))

    async def sees(self, text: str, selector) -> None:
        await self.until(lambda: text in self.shown(selector))

    async def ran(self, times: int = 1) -> None:
        await self.until(lambda: len(self.requests) == times)

    async def play(self, steps: int | None = None) -> None:
        """Deliver steps and wait until they are drawn."""
        self.engine.play(steps)
        comparison = self.chat.screen.dialogue.comparisons.newest
        changes = comparison.changes
        await self.until(lambda: comparison.changes > changes)
        await self.until(lambda: self.screen.settled)

    def bindings(self) -> dict[str, str]:
        return {key: active.binding.description for key, active in self.screen.active_bindings.items()}


@pytest.fixture
def open_compare(open_chat):
    """The compare screen over a question typed in the composer."""

    @asynccontextmanager
    async def opened(*lanes: str, question: str = QUESTION, started: bool = True, **options):
        engine = ScriptedEngine("Hello.", lanes=lanes or (TEXT,), loaded=options.pop("loaded", LOADED))
        async with open_chat(engine=engine, **options) as chat:
            chat.composer.text = question
            await chat.pilot.press("ctrl+r")
            await chat.until(lambda: isinstance(chat.app.screen, CompareScreen))
            compared = Compared(chat)
            if started:
                await compared.ran()
            yield compared

    return opened


async def test_it_starts_at_once_with_what_is_in_the_composer(open_compare):
    async with open_compare() as compared:
        request = compared.requests[0]
        assert request.messages == (ChatMessage("user", QUESTION),)
        assert compared.names() == ["plain", "joint"]
        assert compared.chat.composer.text == QUESTION
        assert compared.screen.query_one(PromptField).text == QUESTION


async def test_without_a_word_in_the_composer_the_last_question_is_compared(open_chat):
    async with open_chat(engine=ScriptedEngine("Paris.", "Madrid.", lanes=(TEXT,))) as chat:
        for question in ("And of France?", "And of Spain?"):
            await chat.ask(question)
            await chat.finish()
        await chat.pilot.press("ctrl+r")
        await chat.until(lambda: chat.engine.sent(Compare))
        assert chat.engine.sent(Compare)[0].messages == (
            ChatMessage("user", "And of France?"),
            ChatMessage("assistant", "Paris."),
            ChatMessage("user", "And of Spain?"),
        )
        await Compared(chat).until(
            lambda: "with 2 earlier messages" in (chat.app.screen.query_one(PromptField).border_subtitle or "")
        )


async def test_words_in_the_composer_follow_the_whole_conversation(open_chat):
    async with open_chat(engine=ScriptedEngine("Paris.", lanes=(TEXT,))) as chat:
        await chat.ask("And of France?")
        await chat.finish()
        chat.composer.text = "And of Spain?"
        await chat.pilot.press("ctrl+r")
        await chat.until(lambda: chat.engine.sent(Compare))
        assert [message.content for message in chat.engine.sent(Compare)[0].messages] == [
            "And of France?",
            "Paris.",
            "And of Spain?",
        ]


async def test_a_past_question_is_compared_with_one_key(open_chat):
    async with open_chat(engine=ScriptedEngine("Paris.", "Madrid.", lanes=(TEXT,))) as chat:
        for question in ("And of France?", "And of Spain?"):
            await chat.ask(question)
            await chat.finish()
        chat.composer.text = "typed meanwhile"
        await chat.pilot.press("alt+up", "g", "c")
        await chat.until(lambda: chat.engine.sent(Compare))
        assert chat.engine.sent(Compare)[0].messages == (ChatMessage("user", "And of France?"),)
        assert chat.composer.text == "typed meanwhile"


async def test_a_running_answer_comes_first(open_chat):
    async with open_chat(engine=ScriptedEngine(TEXT)) as chat:
        await chat.ask()
        await chat.pilot.press("ctrl+r")
        assert isinstance(chat.app.screen, ChatScreen)
        assert "Still answering: Esc stops it first." in chat.toasts


async def test_with_nothing_to_ask_the_prompt_is_asked_for(open_compare):
    async with open_compare(question="", started=False) as compared:
        await compared.until(lambda: isinstance(compared.screen.focused, PromptField))
        await compared.press(*"Why 1?", "enter")
        await compared.ran()
        assert compared.requests[0].messages == (ChatMessage("user", "Why 1?"),)
        await compared.until(lambda: compared.screen.focused is compared.lane(0))


async def test_it_waits_for_the_model(open_chat):
    class Slow(ScriptedEngine):
        def send(self, request):
            if not isinstance(request, Compare | Cancel):
                self.requests.append(request)
            else:
                super().send(request)

    async with open_chat(engine=Slow(lanes=(TEXT,)), ready=False) as chat:
        await chat.until(lambda: chat.engine.sent(Load))
        chat.composer.text = QUESTION
        await chat.pilot.press("ctrl+r")
        await chat.until(lambda: isinstance(chat.app.screen, CompareScreen))
        compared = Compared(chat)
        chat.engine.emit(Progress("reading weights", 0.5))
        await compared.sees("reading weights", StatusLine)
        assert not compared.requests
        chat.engine.emit(replace(LOADED, heads=0))
        await compared.ran()


async def test_texts_figures_and_verdict_are_those_of_the_engine(open_compare):
    async with open_compare(size=(120, 40)) as compared:
        await compared.play(12)
        await compared.sees(TEXT[:20], "#lane-0")
        await compared.sees("tokens ahead of plain after", StatusLine)
        await compared.play()
        plain, joint = compared.chat.screen.dialogue.comparisons.newest.runs
        for figure in (f"{joint.tally.tokens_per_second:.1f}", f"{joint.tally.speedup:.2f}×"):
            await compared.until(lambda figure=figure: figure in compared.shown(Scoreboard).splitlines()[2])
        await compared.sees(f"= joint: identical, {plain.tally.tokens} tokens", "#verdict")
        assert "complete" in (compared.lane(0).border_subtitle or "")


async def test_where_texts_part_rows_have_a_sign_and_a_key_leads_there(open_compare):
    async with open_compare(LONG, LONG.replace("2 is a", "2 was a", 1), size=(80, 24)) as compared:
        await compared.play()
        await compared.sees("≠ joint parts from plain at token", "#verdict")
        lane = compared.lane(1)
        await compared.until(lambda: lane.scroll_y == lane.max_scroll_y)
        await compared.until(lambda: all(row.startswith("┆") for row in compared.shown("#lane-1").splitlines() if row))
        assert not any(row.startswith(("┆", "≠")) for row in compared.shown("#lane-0").splitlines())
        await compared.press("d")
        await compared.until(lambda: "≠ 2 was a number" in compared.shown("#lane-1"))
        await compared.sees("2 is a number", "#lane-0")


async def test_identical_texts_have_no_difference_to_go_to(open_compare):
    async with open_compare() as compared:
        await compared.play()
        assert "d" not in compared.bindings()


async def test_failures_are_told_and_what_was_written_stays(open_compare):
    async with open_compare() as compared:
        await compared.play(6)
        compared.engine.emit(Failed("memory", "Out of [memory]; choose fewer lanes.", answer=1))
        await compared.sees("✗ Out of [memory]; choose fewer lanes.", "#verdict")
        await compared.sees("The capital", "#lane-0")
        await compared.press("enter")
        await compared.ran(2)


async def test_lanes_are_chosen_by_their_number(open_compare):
    async with open_compare() as compared:
        await compared.press("2")
        await compared.until(lambda: "2 medusa" in (compared.lane(1).border_title or ""))
        assert compared.engine.sent(Cancel)
        assert len(compared.requests) == 1
        await compared.press("plus")
        await compared.until(lambda: compared.lane(2).display)
        await compared.press("3", "alt+1", "enter")
        await compared.ran(2)
        assert compared.names()[1:] == ["medusa", "lookup"]
        assert compared.names()[0] not in ("plain", "medusa", "lookup")
        await compared.press("minus", "r")
        await compared.ran(3)
        assert len(compared.names()) == 2


async def test_a_click_on_its_title_turns_a_lane(open_compare):
    async with open_compare(size=(80, 24)) as compared:
        await compared.chat.click(compared.lane(1), (4, 0))
        await compared.until(lambda: "2 medusa" in (compared.lane(1).border_title or ""))
        await compared.chat.click(compared.lane(1), (4, 2))
        await compared.until(lambda: compared.screen.focused is compared.lane(1))
        assert "2 medusa" in (compared.lane(1).border_title or "")


async def test_presets_and_the_settings_in_force_are_contestants(open_chat):
    engine = ScriptedEngine(lanes=(TEXT,))
    async with open_chat(engine=engine) as chat:
        chat.screen.dialogue.choose(
            replace(chat.screen.dialogue.choices, decoding=Decoding("medusa", rule="threshold"))
        )
        chat.composer.text = QUESTION
        await chat.pilot.press("ctrl+r")
        await chat.until(lambda: engine.sent(Compare))
        compared = Compared(chat)
        assert compared.names() == ["plain", "as set"]
        await compared.until(lambda: "as set · threshold, lossy" in (compared.lane(1).border_title or ""))
        await compared.press("alt+2", "enter")
        await compared.ran(2)
        assert compared.names() == ["plain", "aggressive"]


async def test_the_lanes_are_there_again_the_next_time(open_compare):
    async with open_compare() as compared:
        await compared.play()
        await compared.press("plus", "2", "2", "enter")
        await compared.ran(2)
        await compared.play()
        names = compared.names()
        await compared.press("escape")
        await compared.until(lambda: isinstance(compared.chat.app.screen, ChatScreen))
        await compared.press("ctrl+r")
        await compared.ran(3)
        assert compared.names() == names


async def test_the_prompt_can_be_changed(open_compare):
    async with open_compare() as compared:
        await compared.press("e")
        assert isinstance(compared.screen.focused, PromptField)
        assert "1" not in compared.bindings()
        await compared.press("1", "ctrl+j", "e", "escape")
        assert compared.screen.focused is compared.lane(0)
        assert compared.screen.query_one(PromptField).text == f"{QUESTION}1\ne"
        assert len(compared.requests) == 1
        await compared.press("r")
        await compared.ran(2)
        assert compared.requests[1].messages[-1].content == f"{QUESTION}1\ne"


async def test_pause_step_and_go_on(open_compare):
    async with open_compare() as compared:
        await compared.play(4)
        assert compared.bindings()["space"] == "Pause"
        assert "full_stop" not in compared.bindings()
        await compared.press("space")
        await compared.sees("paused: ", StatusLine)
        await compared.until(lambda: compared.bindings()["space"] == "Go on")
        await compared.press("full_stop")
        await compared.press("space")
        assert [type(each) for each in compared.engine.requests[-3:]] == [Pause, StepOnce, Resume]


async def test_esc_peels_one_layer_at_a_time(open_compare):
    async with open_compare() as compared:
        await compared.play(5)
        await compared.press("e", "escape")
        assert not compared.engine.sent(Cancel)
        await compared.press("escape")
        await compared.sees("identical as far as both got", "#verdict")
        assert compared.engine.sent(Cancel)
        await compared.press("escape")
        await compared.until(lambda: isinstance(compared.chat.app.screen, ChatScreen))
        assert compared.chat.screen.focused is compared.chat.composer


async def test_nothing_of_it_enters_the_conversation(open_compare):
    async with open_compare() as compared:
        await compared.play()
        await compared.press("escape")
        await compared.until(lambda: isinstance(compared.chat.app.screen, ChatScreen))
        assert compared.chat.screen.dialogue.turns == []
        await compared.press("enter")
        await compared.until(lambda: compared.engine.sent(Generate))
        assert compared.engine.sent(Generate)[0].messages == (ChatMessage("user", QUESTION),)


async def test_the_report_and_a_lane_s_text_can_be_copied(open_compare):
    async with open_compare() as compared:
        await compared.play()
        await compared.press("y")
        copied = compared.chat.app.clipboard
        assert copied.startswith(QUESTION)
        assert "= joint: identical" in copied
        await compared.press("tab", "Y")
        assert compared.chat.app.clipboard == TEXT


async def test_a_lane_is_followed_until_it_is_read_further_up(open_compare):
    async with open_compare(LONG, size=(80, 24)) as compared:
        await compared.play(300)
        lane = compared.lane(1)
        await compared.until(lambda: 0 < lane.scroll_y == lane.max_scroll_y)
        await compared.press("tab", "g")
        await compared.until(lambda: lane.scroll_y == 0)
        await compared.play()
        await compared.until(lambda: compared.lane(0).scroll_y == compared.lane(0).max_scroll_y)
        assert lane.scroll_y == 0
        await compared.press("G")
        await compared.until(lambda: lane.scroll_y == lane.max_scroll_y)


async def test_text_is_data(open_compare):
    nasty = "a [red]b[/] \x1b[31mc\ttab 東京\r\nend [/"
    async with open_compare(nasty) as compared:
        await compared.play()
        await compared.sees("a [red]b[/] ␛[31mc    tab 東京", "#lane-0")
        await compared.sees("end [/", "#lane-1")


@pytest.mark.parametrize(
    ("size", "stacked"), [((40, 12), True), ((71, 24), True), ((80, 24), False), ((120, 40), False)]
)
async def test_lanes_are_stacked_where_it_is_narrow(open_compare, size, stacked):
    async with open_compare(size=size) as compared:
        await compared.play()
        await compared.sees("joint: identical", "#verdict")
        first, second = compared.lane(0).region, compared.lane(1).region
        assert (first.x == second.x) == stacked
        assert (first.y == second.y) != stacked


@pytest.mark.parametrize("size", [(40, 12), (60, 18)])
async def test_on_a_small_screen_each_lane_has_its_row_of_the_verdict_also_after_a_resize(open_compare, size):
    async with open_compare(size=(120, 40)) as compared:
        await compared.press("plus", "enter")
        await compared.ran(2)
        await compared.play()
        await compared.chat.pilot.resize_terminal(*size)
        await compared.until(lambda: [row[:9] for row in compared.shown("#verdict").splitlines()] == VERDICTS)
        table = compared.screen.query_one(Scoreboard)
        await compared.until(lambda: (table.size.height, table.region.width) == (4, size[0]))
        await compared.until(lambda: all(row.endswith("×") for row in compared.shown(Scoreboard).splitlines()[1:]))


async def test_a_long_prompt_shows_its_beginning_unless_it_is_written(open_compare):
    async with open_compare(size=(40, 12), question="Why is the sky blue? Explain it, and be short.") as compared:
        prompt = compared.screen.query_one(PromptField)
        await compared.until(lambda: prompt.scroll_y == 0)
        await compared.press("e")
        await compared.until(lambda: prompt.scroll_y > 0)
        await compared.press("escape")
        await compared.until(lambda: prompt.scroll_y == 0)


async def test_every_binding_has_an_id_and_words(open_compare):
    async with open_compare() as compared:
        bindings = [*CompareScreen.BINDINGS, *LaneText.BINDINGS, *PromptField.BINDINGS]
        ids = [binding.id for binding in bindings]
        assert None not in ids
        assert len(set(ids)) == len(ids)
        assert all(binding.tooltip for binding in bindings)
        offered = {command.help for command in compared.chat.app.get_system_commands(compared.screen)}
        wanted = {"compare.run", "compare.pause", "compare.stop", "compare.edit", "compare.copy", "compare.add"}
        assert wanted <= set(ids)
        assert {binding.tooltip for binding in bindings if binding.id in wanted} <= offered
