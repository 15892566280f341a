"""The palette: every action, themes and models by name; and a footer that offers what applies."""

from __future__ import annotations

import pytest
from textual.command import CommandList

from medusa_chat import catalog
from medusa_chat.settings.preferences import preferred_theme
from medusa_chat.tui.chat.help import HelpScreen
from medusa_chat.tui.models.model_list import ModelList
from medusa_chat.tui.models.screen import ModelsScreen


def offered(palette) -> list[str]:
    return [str(option.prompt) for option in palette.query_one(CommandList).options]


async def test_actions_come_in_the_order_of_the_screen_and_steps_back_only_when_asked_for(open_chat):
    async with open_chat() as chat:
        commands = list(chat.app.get_system_commands(chat.screen))
        shown = [command.title for command in commands if command.discover]
        assert shown[0] == "Send the question"
        assert "Models" in shown
        assert "Help" in shown
        assert shown[-1] == "Quit"
        assert "Budget: next" in shown
        assert "Budget: back" not in shown
        assert "Budget: back" in [command.title for command in commands]
        assert len(set(shown)) == len(shown)
        assert all(command.help for command in commands)


async def test_a_theme_is_found_by_name_worn_and_remembered(open_chat):
    async with open_chat() as chat:
        await chat.find("theme ember", "Theme: ember")
        await chat.until(lambda: chat.app.theme == "ember")
        assert preferred_theme() == "ember"


async def test_a_model_is_found_by_name_and_marked_in_the_list(open_chat):
    async with open_chat() as chat:
        await chat.find("model original", "Model: SmolLM2 135M Instruct, original weights")
        await chat.until(lambda: isinstance(chat.app.screen, ModelsScreen))
        await chat.until(lambda: chat.app.screen.query_one(ModelList).marked == "smollm2-135m-instruct-hub")


async def test_a_conversation_is_found_by_title_and_gone_on_with(open_chat):
    async with open_chat("Paris.") as chat:
        await chat.ask("Which town has the Louvre?")
        await chat.finish()
        await chat.pilot.press("ctrl+n", "f11")
        await chat.until(lambda: isinstance(chat.app.screen, ModelsScreen))
        await chat.find("louvre", "Conversation: Which town has the Louvre?")
        await chat.until(lambda: chat.app.screen is chat.screen)
        await chat.until(
            lambda: [turn.question for turn in chat.screen.dialogue.turns] == ["Which town has the Louvre?"]
        )


async def test_actions_of_the_chat_are_reached_from_other_screens(open_chat):
    async with open_chat("Paris.") as chat:
        await chat.ask()
        await chat.finish()
        await chat.pilot.press("f11")
        await chat.until(lambda: isinstance(chat.app.screen, ModelsScreen))
        await chat.find("chat new", "Chat: New conversation")
        await chat.until(lambda: chat.app.screen is chat.screen and not chat.screen.dialogue.turns)


async def test_the_actions_of_a_screen_are_those_that_apply(open_chat):
    async with open_chat() as chat:
        await chat.pilot.press("f11")
        await chat.until(
            lambda: isinstance(chat.app.screen, ModelsScreen) and chat.app.screen.query_one(ModelList).marked
        )
        chat.app.screen.query_one(ModelList).mark(catalog.DEFAULT_MODEL)
        await chat.until(lambda: chat.app.screen.check_action("pull", ()))
        titles = [command.title for command in chat.app.get_system_commands(chat.app.screen)]
        assert {"Pull this model", "Next precision of this model", "Add a model", "Back to the chat"} <= set(titles)
        assert "Load this model" not in titles
        assert "Stop the pull of this model" not in titles


def footer(chat) -> set[str]:
    return {key.description for key in chat.app.screen.query("FooterKey")}


async def test_stop_is_offered_only_while_there_is_an_answer_to_stop(open_chat):
    async with open_chat("One two three four.") as chat:
        await chat.until(lambda: "Send" in footer(chat))
        assert "Stop" not in footer(chat)
        await chat.ask()
        await chat.until(lambda: "Stop" in footer(chat))
        await chat.pilot.press("escape")
        await chat.until(lambda: not chat.screen.dialogue.busy)
        await chat.until(lambda: "Stop" not in footer(chat))


@pytest.mark.parametrize("key", ["f1", "ctrl+l"])
async def test_a_page_is_not_opened_twice(open_chat, key):
    async with open_chat() as chat:
        await chat.pilot.press(key)
        await chat.until(lambda: len(chat.app.screen_stack) == 2)
        chat.app.action_help() if key == "f1" else chat.app.action_change_theme()
        assert len(chat.app.screen_stack) == 2
        assert isinstance(chat.app.screen, HelpScreen) or key != "f1"
