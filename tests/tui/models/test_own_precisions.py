"""What a model's weights were chosen to be kept in is so again at the next start, for each model its own."""

from __future__ import annotations

from dataclasses import replace

import pytest
from doubles.model_cards import make_here
from doubles.scripted_engine import LOADED, ScriptedEngine

from medusa_chat import catalog
from medusa_chat.host import client
from medusa_chat.host.messages import Failed, Load
from medusa_chat.settings import toml_file
from medusa_chat.settings.preferences import preferences_file
from medusa_chat.tui import launch as launching
from medusa_chat.tui.app import MedusaChatApp
from medusa_chat.tui.first_model import prefer_model
from medusa_chat.tui.own_precisions import own_precisions, precision_of

MISSING = Failed("refused", "It cannot be loaded: bitsandbytes is missing.")


class Without(ScriptedEngine):
    """Of a machine where one precision is not to be had."""

    def __init__(self, precision: str, failed: Failed) -> None:
        super().__init__("Paris.")
        self._without, self._failed = precision, failed

    def send(self, request):
        if isinstance(request, Load) and request.quantize == self._without:
            self.requests.append(request)
            self.emit(self._failed)
        else:
            super().send(request)


async def test_a_precision_chosen_on_the_screen_is_kept_for_this_model_alone(open_models, cards):
    make_here(cards.small)
    async with open_models() as models:
        await models.mark("small")
        await models.press("q", "q", "q", "enter")
        await models.chat.until(lambda: own_precisions() == {"small": "int8"})
        assert models.chat.engine.sent(Load)[-1] == Load("small", "int8")
        assert precision_of("small") == ("int8", None)
        assert precision_of(catalog.DEFAULT_MODEL) == ("auto", None)


async def test_the_screen_offers_a_model_in_its_own_precision_and_marks_the_one_in_use(open_models, cards):
    make_here(cards.small)
    prefer_model("small", "int4")
    engine = ScriptedEngine("Paris.", loaded=replace(LOADED, precision="int4"))
    async with open_models(engine=engine) as models:
        await models.mark("big-7b")
        await models.sees("▸ auto", "#about")
        await models.mark("small")
        await models.sees("▸ int4", "#about")
        assert "●" not in models.text("#about")
        await models.press("enter")
        await models.chat.until(lambda: engine.sent(Load)[-1] == Load("small", "int4"))
        await models.sees("● loaded, int4", "#about")
        assert "●" in precision_row(models, "int4")
        await models.press("q", "q")
        await models.sees("▸ auto", "#about")
        assert "●" in precision_row(models, "int4")
        assert "●" not in precision_row(models, "auto")


async def test_where_the_engine_took_the_next_best_that_one_is_marked(open_models, cards):
    make_here(cards.small)
    prefer_model("small", "int8")
    async with open_models(engine=ScriptedEngine("Paris.", loaded=replace(LOADED, precision="fp16"))) as models:
        await models.mark("small")
        await models.press("enter")
        await models.sees("● loaded, fp16", "#about")
        assert "●" in precision_row(models, "fp16")
        assert "●" not in precision_row(models, "int8")


def precision_row(models, name: str) -> str:
    return next(line for line in models.text("#about").splitlines() if line.strip(" ▸").startswith(name))


def test_the_usual_is_not_written_and_comes_back_where_something_else_was(cards):
    prefer_model("small", "auto")
    assert "precisions" not in toml_file.read(preferences_file())
    prefer_model("small", "int8")
    prefer_model("a.b", "int4")
    prefer_model("small", "auto")
    assert precision_of("small") == ("auto", None)
    assert precision_of("a.b") == ("int4", None)


def test_what_else_is_in_the_table_stays(cards):
    preferences_file().write_text('theme = "ember"\n\n[precisions]\n# slow machine\nother = "int4"\n', "utf-8")
    prefer_model("small", "int8")
    assert "# slow machine" in preferences_file().read_text("utf-8")
    assert own_precisions() == {"other": "int4", "small": "int8"}


@pytest.mark.parametrize("wrong", ['"int3"', "8", '["int8"]'])
def test_a_precision_there_is_none_of_is_said_in_one_sentence(wrong):
    preferences_file().write_text(f"[precisions]\nsmall = {wrong}\n", "utf-8")
    precision, doubt = precision_of("small")
    assert precision == "auto"
    assert "it must be one of auto, none, fp16" in doubt
    assert own_precisions() == {}


@pytest.mark.parametrize("text", ["precisions = 3", "precisions = ["])
def test_a_table_that_is_none_chooses_nothing(text):
    preferences_file().write_text(text, "utf-8")
    assert precision_of("small") == ("auto", None)


@pytest.mark.parametrize(("flag", "loaded"), [(None, "int8"), ("fp16", "fp16")])
def test_the_app_starts_in_the_precision_chosen_last_unless_a_flag_names_another(monkeypatch, flag, loaded):
    prefer_model(catalog.DEFAULT_MODEL, "int8")
    engine = ScriptedEngine("Paris.")
    started = []
    monkeypatch.setattr(client, "EngineClient", lambda: engine)
    monkeypatch.setattr(launching.sys, "stdin", Terminal())
    monkeypatch.setattr(launching.sys, "stdout", Terminal())
    monkeypatch.setattr(MedusaChatApp, "run", lambda app: started.append(app))
    launching.launch(quantize=flag)
    started[0].get_default_screen().dialogue.model.open()
    assert engine.sent(Load) == [Load(catalog.DEFAULT_MODEL, loaded)]
    assert precision_of(catalog.DEFAULT_MODEL) == ("int8", None)


class Terminal:
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("prompt", [None, "Capital of France?"])
async def test_where_the_first_model_cannot_be_had_so_it_is_loaded_as_auto_and_that_is_said(open_chat, prompt):
    engine = Without("nf4", MISSING)
    async with open_chat(engine=engine, quantize="nf4", prompt=prompt) as chat:
        await chat.until(lambda: engine.sent(Load) == [Load("tiny", "nf4"), Load("tiny", "auto")])
        await chat.until(lambda: chat.screen.query(".problem"))
        said = " ".join(chat.shown(chat.screen.query_one(".problem")).split())
        assert said == f"✗ {MISSING.advice} It is loaded as auto instead."
        await chat.until(lambda: chat.screen.dialogue.loaded is not None)


async def test_memory_that_ran_out_is_no_reason_to_take_more_of_it(open_chat):
    engine = Without("nf4", Failed("memory", "Memory ran out."))
    async with open_chat(engine=engine, quantize="nf4", ready=False) as chat:
        await chat.sees("Memory ran out.", ".problem")
        assert engine.sent(Load) == [Load("tiny", "nf4")]
