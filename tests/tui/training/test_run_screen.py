"""A person follows a training run from the chat, while it goes on."""

from __future__ import annotations

from pathlib import Path

from doubles.training_runs import STEPS, begun, end, rows, write
from textual.widgets import Input, Static

from medusa_chat.tui.training.run_prompt import RunPrompt
from medusa_chat.tui.training.screen import LossCurve, RunScreen


async def called_up(chat) -> Input:
    """From the palette."""
    await chat.find("follow a training", "training run")
    await chat.until(lambda: isinstance(chat.app.screen, RunPrompt))
    return chat.app.screen.query_one(Input)


async def follow(chat, folder: Path) -> RunScreen:
    field = await called_up(chat)
    field.value = str(folder)
    await chat.pilot.press("enter")
    await chat.until(lambda: isinstance(chat.app.screen, RunScreen))
    return chat.app.screen


def page(chat) -> str:
    screen = chat.app.screen
    return "\n".join(chat.shown(widget) for widget in [*screen.query(Static), *screen.query(LossCurve)])


async def test_it_is_followed_from_its_first_step_to_its_last(open_chat, tmp_path):
    folder = begun(tmp_path / "run", "medusa2")
    async with open_chat() as chat:
        await follow(chat, folder)
        await chat.until(lambda: "waiting for the first step" in page(chat))
        await chat.until(lambda: "Medusa-2" in page(chat) and "layers 1, epochs 8.0, batch 256" in page(chat))
        write(folder, rows(600, kl=True))
        told = ("600 of 1,200 steps", "50 %", "512 tokens/s", "5 min 00 s left", "45.5 %", "0.012 nats")
        await chat.until(lambda: all(words in page(chat) for words in told))
        await chat.until(lambda: max(chat.shown(chat.app.screen.query_one(LossCurve))) > "⠀")
        write(folder, [row for row in rows(STEPS, kl=True) if row["step"] > 600])
        end(folder)
        await chat.until(lambda: "finished" in page(chat))
        assert "left" not in page(chat)
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.app.screen is chat.screen)


async def test_another_folder_is_told_and_asked_again_and_the_last_one_is_remembered(open_chat, tmp_path):
    folder = begun(tmp_path / "run")
    async with open_chat(size=(80, 24)) as chat:
        field = await called_up(chat)
        field.value = str(tmp_path / "[red]nowhere")
        await chat.pilot.press("enter")
        await chat.until(lambda: "[red]nowhere holds no training run" in page(chat).replace("\n", ""))
        field.value = "~nosuchperson/run"
        await chat.pilot.press("enter")
        await chat.until(lambda: "write the whole path" in " ".join(page(chat).split()))
        field.value = f"'{folder}'"
        await chat.pilot.press("enter")
        await chat.until(lambda: isinstance(chat.app.screen, RunScreen))
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.app.screen is chat.screen)
        assert (await called_up(chat)).value == str(folder)


async def test_a_small_screen_scrolls(open_chat, tmp_path):
    folder = begun(tmp_path / "run")
    write(folder, rows(600))
    async with open_chat(size=(40, 12)) as chat:
        screen = await follow(chat, folder)
        await chat.until(lambda: "600 of 1,200" in page(chat))
        await chat.pilot.press("G")
        await chat.until(lambda: screen.query_one("#run").scroll_y > 5)
        await chat.pilot.press("k")
        at = screen.query_one("#run").scroll_y
        await chat.pilot.press("g")
        await chat.until(lambda: screen.query_one("#run").scroll_y == 0 < at)
