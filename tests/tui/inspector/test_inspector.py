"""The inspector over a scripted engine: pausing, stepping, walking through what was said and what is kept of it."""

from __future__ import annotations

from doubles.scripted_engine import ScriptedEngine
from doubles.step_records import steps_of

from medusa_chat.host.messages import Cancel, Pause, Progress, Resume, StepOnce
from medusa_chat.tui.chat.help import HelpScreen
from medusa_chat.tui.chat.status import StatusLine
from medusa_chat.tui.inspector.passage import Passage
from medusa_chat.tui.inspector.screen import InspectorScreen
from medusa_chat.tui.inspector.scrubber import Scrubber
from medusa_chat.tui.inspector.tree_map import TreeMap

TEXT = "The capital of France is Paris, a city on the Seine with a long history and many museums."
STEPS = steps_of(TEXT)


async def inspect(chat) -> InspectorScreen:
    """Open the inspector on the newest answer."""
    await chat.pilot.press("ctrl+g")
    await chat.until(lambda: isinstance(chat.app.screen, InspectorScreen) and chat.app.screen.query(TreeMap))
    return chat.app.screen


async def answered(chat) -> InspectorScreen:
    """A finished answer under the inspector."""
    await chat.ask()
    await chat.finish()
    screen = await inspect(chat)
    await chat.until(lambda: screen.inspection.step is not None)
    return screen


def shown(chat, selector) -> str:
    """The text a widget of the topmost screen has on the terminal."""
    return chat.shown(chat.app.screen.query_one(selector))


def place(screen: InspectorScreen) -> int:
    return screen.inspection.place


async def test_without_an_answer_it_says_so(open_chat):
    async with open_chat() as chat:
        await chat.pilot.press("ctrl+g")
        await chat.until(lambda: chat.toasts)
        assert "no answer to inspect" in chat.toasts[0]
        assert chat.app.screen is chat.screen


async def test_walking_through_an_answer_shows_what_was_streamed(open_chat):
    async with open_chat(TEXT) as chat:
        screen = await answered(chat)
        assert place(screen) == 0
        for number, step in enumerate(STEPS):
            assert screen.inspection.step == step
            await chat.until(lambda number=number: f"step {number + 1} of {len(STEPS)}" in shown(chat, "#where"))
            before, here, after = screen.inspection.said
            assert before == "".join(each.text for each in STEPS[:number])
            assert (here, before + here + after) == (step.text, TEXT)
            if here.strip():
                await chat.until(lambda here=here: here.split()[0] in shown(chat, Passage))
            for node in step.path[1:]:
                assert step.tree.texts[node].replace(" ", "·") in shown(chat, TreeMap)
            await chat.pilot.press("right_square_bracket")
        assert place(screen) == len(STEPS) - 1


async def test_an_answer_of_long_ago_is_read_from_the_disk(open_chat):
    async with open_chat(TEXT) as chat:
        await answered(chat)
        await chat.pilot.press("escape")
        turn = chat.screen.dialogue.current
        await chat.until(lambda: turn.kept.answer is not None)
        turn.steps = []
        screen = await inspect(chat)
        await chat.until(lambda: len(screen.inspection.steps) == len(STEPS))
        for kept, step in zip(screen.inspection.steps, STEPS, strict=True):
            assert (kept.tree, kept.path, kept.text, kept.index) == (step.tree, step.path, step.text, step.index)


async def test_the_answer_under_the_cursor_is_inspected(open_chat):
    async with open_chat(TEXT, "Another answer.") as chat:
        await chat.ask("First?")
        await chat.finish()
        await chat.ask("Second?")
        await chat.finish()
        await chat.pilot.press("alt+up", "g", "i")
        await chat.until(lambda: isinstance(chat.app.screen, InspectorScreen) and chat.app.screen.inspection.steps)
        assert chat.app.screen.inspection.turn.question == "First?"
        assert chat.app.screen.inspection.said[2].endswith("museums.")


async def test_an_answer_without_a_trace_says_so(open_chat):
    async with open_chat(TEXT) as chat:
        await chat.ask()
        await chat.pilot.press("escape")
        await chat.until(lambda: not chat.screen.dialogue.busy)
        await inspect(chat)
        await chat.until(lambda: "No steps were kept" in shown(chat, "#trouble"))


async def test_a_running_answer_is_followed_from_its_last_step(open_chat):
    async with open_chat(TEXT) as chat:
        await chat.ask()
        chat.engine.play(2)
        await chat.until(lambda: chat.screen.dialogue.current.tally.steps == 2)
        screen = await inspect(chat)
        await chat.until(lambda: place(screen) == 1)
        chat.engine.play(2)
        await chat.until(lambda: place(screen) == 3 and "live" in shown(chat, "#where"))
        await chat.pilot.press("home")
        chat.engine.play(1)
        await chat.until(lambda: "of 5" in shown(chat, "#where"))
        assert place(screen) == 0
        await chat.pilot.press("end")
        chat.engine.play()
        await chat.until(lambda: place(screen) == len(STEPS) - 1 and "live" not in shown(chat, "#where"))


async def test_before_the_first_step_it_waits_and_then_follows(open_chat):
    async with open_chat(TEXT) as chat:
        await chat.ask()
        screen = await inspect(chat)
        await chat.until(lambda: "Before the first step" in shown(chat, "#trouble"))
        chat.engine.emit(Progress("reading the conversation", 0.5))
        await chat.until(lambda: "reading the conversation" in shown(chat, "#trouble"))
        chat.engine.play(3)
        await chat.until(lambda: place(screen) == 2 and "✓" in shown(chat, TreeMap))


async def test_pause_step_once_and_go_on_reach_the_engine(open_chat):
    async with open_chat(TEXT) as chat:
        await chat.ask()
        chat.engine.play(2)
        screen = await inspect(chat)
        await chat.pilot.press("space")
        assert chat.engine.requests[-1] == Pause()
        await chat.until(lambda: "paused" in shown(chat, "#where"))
        await chat.pilot.press("n")
        assert chat.engine.requests[-1] == StepOnce()
        await chat.until(lambda: place(screen) == 2)
        await chat.pilot.press("full_stop")
        await chat.until(lambda: place(screen) == 3)
        chat.engine.play()
        assert chat.screen.dialogue.busy
        await chat.pilot.press("space")
        assert chat.engine.requests[-1] == Resume()
        chat.engine.play()
        await chat.until(lambda: not chat.screen.dialogue.busy)


async def test_stepping_a_running_answer_pauses_it_first(open_chat):
    async with open_chat(TEXT) as chat:
        await chat.ask()
        chat.engine.play(2)
        await inspect(chat)
        await chat.pilot.press("n")
        assert chat.engine.requests[-1] == Pause()
        assert not chat.engine.sent(StepOnce)


async def test_leaving_changes_nothing_about_the_answer(open_chat):
    async with open_chat(TEXT) as chat:
        await chat.ask()
        chat.engine.play(2)
        await inspect(chat)
        await chat.pilot.press("escape")
        assert not chat.engine.paused
        await inspect(chat)
        await chat.pilot.press("space", "ctrl+g")
        await chat.until(lambda: chat.app.screen is chat.screen)
        assert chat.engine.paused
        await chat.sees("paused", StatusLine)
        await chat.pilot.press("escape")
        assert chat.engine.requests[-1] == Cancel()
        await chat.until(lambda: not chat.screen.dialogue.busy)
        await chat.until(lambda: "paused" not in chat.shown(chat.screen.query_one(StatusLine)))


async def test_the_chat_has_keys_of_its_own_for_the_steps(open_chat):
    async with open_chat(TEXT) as chat:
        await chat.pilot.press("alt+p", "alt+n")
        assert not chat.engine.sent(Pause)
        assert "No answer is being written" in chat.toasts[0]
        await chat.ask()
        chat.engine.play(1)
        await chat.pilot.press("alt+p")
        assert chat.engine.requests[-1] == Pause()
        await chat.sees("paused", StatusLine)
        await chat.pilot.press("alt+n")
        await chat.until(lambda: chat.screen.dialogue.current.tally.steps == 2)
        await chat.pilot.press("alt+p")
        assert chat.engine.requests[-1] == Resume()


async def test_the_footer_offers_what_applies(open_chat):
    async with open_chat(TEXT) as chat:
        await chat.ask()
        chat.engine.play(2)
        screen = await inspect(chat)

        def offered() -> set[str]:
            return {key.description for key in screen.query("FooterKey")}

        await chat.until(lambda: {"Pause", "One step"} <= offered())
        await chat.pilot.press("space")
        await chat.until(lambda: "Go on" in offered() and "Pause" not in offered())
        await chat.pilot.press("space")
        chat.engine.play()
        await chat.until(
            lambda: {"Back", "On", "Close"} <= offered() and not offered() & {"Pause", "Go on", "One step"}
        )


async def test_the_cursor_walks_the_tree_and_says_why(open_chat):
    async with open_chat(TEXT) as chat:
        screen = await answered(chat)
        step = STEPS[0]
        assert screen.inspection.node == step.path[-1]
        await chat.pilot.press("g")
        assert screen.inspection.node == 0
        await chat.until(lambda: "Certain before the step" in shown(chat, "#node"))
        await chat.pilot.press("l")
        assert screen.inspection.node == step.path[1]
        await chat.until(lambda: "Kept: the model's likeliest" in shown(chat, "#node"))
        await chat.pilot.press("down")
        assert screen.inspection.node not in step.path
        await chat.until(lambda: "Fell: the model's choice was" in shown(chat, "#node"))
        await chat.pilot.press("h", "G")
        assert screen.inspection.node == step.path[-1]


async def test_the_mouse_goes_to_steps_and_guesses(open_chat):
    async with open_chat(TEXT) as chat:
        screen = await answered(chat)
        scrubber, tree = screen.query_one(Scrubber), screen.query_one(TreeMap)
        await chat.click(scrubber, (2 + 4 * 3, 0))
        await chat.until(lambda: place(screen) == 3)
        await chat.click(scrubber, (110, 1))
        await chat.until(lambda: place(screen) == len(STEPS) - 1)
        await chat.pilot.press("home")
        await chat.click(tree, (1, 0))
        await chat.until(lambda: screen.inspection.node == 0)
        await chat.click(tree, (0, tree.size.height - 1))
        assert screen.inspection.node == 0


async def test_the_bar_takes_arrows_when_it_has_the_focus(open_chat):
    async with open_chat(TEXT) as chat:
        screen = await answered(chat)
        await chat.pilot.press("tab")
        assert isinstance(screen.focused, Scrubber)
        await chat.pilot.press("right", "right", "left")
        assert place(screen) == 1
        await chat.pilot.press("pagedown")
        assert place(screen) == min(11, len(STEPS) - 1)
        await chat.pilot.press("left_square_bracket", "pageup", "pageup")
        assert place(screen) == 0


async def test_help_names_the_inspector_s_keys(open_chat):
    async with open_chat(TEXT) as chat:
        await answered(chat)
        await chat.pilot.press("f1")
        await chat.until(lambda: isinstance(chat.app.screen, HelpScreen))
        title, rows = chat.app.screen.shown[0]
        assert title == "Inspector"
        assert any("one more step" in row.text for row in rows)


async def test_a_wide_tree_is_scrolled_to_the_cursor(open_chat):
    async with open_chat(TEXT, size=(40, 12)) as chat:
        screen = await answered(chat)
        tree = screen.query_one(TreeMap)

        def in_view() -> bool:
            window, place = tree.parent, tree.cursor_place
            return window.scroll_x <= place.x and place.right <= window.scroll_x + window.size.width + 8

        for key, node in (("G", STEPS[0].path[-1]), ("g", 0), ("G", STEPS[0].path[-1])):
            await chat.pilot.press(key)
            await chat.until(lambda node=node: screen.inspection.node == node and in_view())


async def test_many_steps_at_once_are_one_redraw_away(open_chat):
    async with open_chat(engine=ScriptedEngine(TEXT * 20)) as chat:
        await chat.ask()
        screen = await inspect(chat)
        chat.engine.play()
        await chat.until(lambda: place(screen) == len(screen.inspection.steps) - 1 > 100)
        assert sum(screen.inspection.said[index] != "" for index in (0, 1)) >= 1
