"""Every setting in one table: how it moves, what may be typed, when it counts."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from doubles.scripted_engine import LOADED

from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.options import Decoding, Limits, Sampling
from medusa_chat.settings.presets import BUILT_IN, Preset
from medusa_chat.tui.choices import Choices, in_force, possible, why_impossible, with_preset
from medusa_chat.tui.knobs import KNOBS, key_of
from medusa_chat.tui.settings.fields import FIELDS, Field, field

HEADLESS = replace(LOADED, heads=0)
DRAWN = Choices(sampling=Sampling(temperature=0.8))


def test_the_table_holds_every_option_once():
    parts = {"decoding": Decoding, "sampling": Sampling, "limits": Limits}
    options = [f"{part}.{option.name}" for part, kind in parts.items() for option in fields(kind)]
    assert sorted(field.id for field in FIELDS) == sorted(options)


def test_every_function_key_turns_a_field():
    keyed = [key_of(each) for each in FIELDS]
    assert {knob.key for knob in KNOBS} == {key for key in keyed if key}


@pytest.mark.parametrize("each", FIELDS, ids=lambda each: each.id)
def test_what_is_edited_reads_back(each: Field):
    choices = DRAWN
    for _ in range(4):
        assert each.typed(choices, each.scale.edited(each.value(choices)), LOADED) == choices
        choices = each.turn(choices, 1, LOADED)
    assert each.default(choices) == each.default(DRAWN)
    assert not each.changed(each.default(choices))
    assert not each.scale.steps or {each.turn(DRAWN, 1, LOADED), each.turn(DRAWN, -1, LOADED)} != {DRAWN}


STEPS = [
    ("decoding.decoder", Choices(), -1, "plain"),
    ("decoding.budget", Choices(), 1, 12),
    ("decoding.budget", Choices(Decoding(budget=1)), -1, None),
    ("decoding.budget", Choices(Decoding(budget=256)), 1, 256),
    ("decoding.budget", Choices(Decoding(budget=9)), -1, 8),
    ("decoding.heads", Choices(), -1, 3),
    ("decoding.heads", Choices(Decoding(heads=3)), 1, None),
    ("decoding.heads", Choices(Decoding(heads=1)), -1, 1),
    ("sampling.seed", Choices(), 1, 0),
    ("sampling.seed", Choices(), -1, None),
    ("sampling.seed", Choices(sampling=Sampling(seed=0)), -1, None),
    ("sampling.top_p", Choices(), -1, 0.98),
    ("sampling.top_k", Choices(), 1, 5),
    ("limits.max_tokens", Choices(), 1, 1024),
]


@pytest.mark.parametrize(("id", "choices", "by", "value"), STEPS)
def test_a_step_leads_to_the_next_sensible_value(id, choices, by, value):
    assert field(id).value(field(id).turn(choices, by, LOADED)) == value


TYPED = [
    ("decoding.rule", "typ", "typical"),
    ("decoding.tree", " Cartesian ", "cartesian"),
    ("decoding.budget", "auto", None),
    ("decoding.budget", "37", 37),
    ("decoding.heads", "all", None),
    ("sampling.seed", "", None),
    ("sampling.seed", "18446744073709551615", 2**64 - 1),
    ("sampling.top_k", "off", 0),
    ("sampling.min_p", "off", 0.0),
    ("sampling.temperature", "0.123", 0.123),
    ("limits.stop", r"END|\n\n| a b |", ("END", "\n\n", "a b")),
    ("limits.stop", r"\\n|\d|\\", ("\\n", "\\d", "\\")),
    ("limits.stop", "", ()),
    ("limits.max_tokens", "9" * 400, int("9" * 400)),
]


@pytest.mark.parametrize(("id", "text", "value"), TYPED)
def test_what_may_be_typed(id, text, value):
    typed = field(id).typed(Choices(), text, LOADED)
    assert field(id).value(typed) == value
    assert field(id).typed(typed, field(id).scale.edited(value), LOADED) == typed
    assert field(id).show(typed, LOADED)


WRONG = [
    ("decoding.decoder", "draft", "decoder is draft; it must be one of plain, joint"),
    ("decoding.rule", "", "rule is ; it must be one of"),
    ("decoding.budget", "0", "budget is 0; it must be between 1 and 256"),
    ("decoding.budget", "lots", "budget is 'lots'; it must be a whole number or auto"),
    ("decoding.budget", "8.5", "budget is '8.5'; it must be a whole number or auto"),
    ("decoding.heads", "9", "heads is 9, but this model has 4"),
    ("decoding.top_k", "65", "top-k per head is 65; it must be between 1 and 64"),
    ("decoding.epsilon", "0", "epsilon is 0.0; it must be above 0"),
    ("sampling.temperature", "hot", "temperature is 'hot'; it must be a number"),
    ("sampling.temperature", "nan", "temperature is nan; it must be between 0 and 10"),
    ("sampling.temperature", "1e999", "temperature is inf; it must be between 0 and 10"),
    ("sampling.top_p", "0", "top-p is 0.0; it must be above 0"),
    ("sampling.seed", "-1", "seed is -1; it must be between 0"),
    ("sampling.seed", "9" * 5000, "seed is '99999999999999999999'; it must be a whole number or drawn"),
    ("limits.max_tokens", "0", "max tokens is 0; it must be at least 1"),
]


@pytest.mark.parametrize(("id", "text", "message"), WRONG)
def test_what_is_none_of_its_values_is_said_in_one_sentence(id, text, message):
    with pytest.raises(MedusaError) as caught:
        field(id).typed(Choices(), text, LOADED)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_what_the_model_cannot_follow_is_told_and_avoided():
    wishes = Choices(Decoding("medusa", heads=5))
    assert "needs heads" in why_impossible(wishes, HEADLESS)
    assert why_impossible(wishes, LOADED) == "heads is 5, but this model has 4; all drafts with those there are."
    assert why_impossible(wishes, None) == ""
    for loaded in (LOADED, HEADLESS):
        assert why_impossible(possible(wishes, loaded), loaded) == ""
    assert possible(wishes, replace(LOADED, heads=5)) == wishes
    with pytest.raises(MedusaError, match="this model has none"):
        field("decoding.decoder").typed(Choices(), "medusa", HEADLESS)


IDLE = [
    ("decoding.budget", Decoding("plain"), Sampling(), "drafts nothing"),
    ("decoding.heads", Decoding("lookup"), Sampling(), "lookup drafts without heads"),
    ("decoding.tree", Decoding(), Sampling(), "Only the decoder medusa"),
    ("decoding.epsilon", Decoding(), Sampling(), "lossless rule has no epsilon"),
    ("decoding.threshold", Decoding(rule="typical"), Sampling(), "typical rule has no threshold"),
    ("sampling.temperature", Decoding(rule="greedy"), Sampling(), "greedy rule always"),
    ("sampling.top_p", Decoding(), Sampling(), "Temperature 0 always"),
    ("sampling.seed", Decoding(rule="greedy"), Sampling(temperature=1.0), "greedy rule always"),
]


@pytest.mark.parametrize(("id", "decoding", "sampling", "reason"), IDLE)
def test_a_setting_that_does_not_count_says_why(id, decoding, sampling, reason):
    assert reason in field(id).idle(Choices(decoding, sampling), LOADED)


def test_where_all_count_none_is_idle():
    choices = Choices(Decoding("medusa", rule="typical"), Sampling(temperature=0.8))
    idle = [each.id for each in FIELDS if each.idle(choices, LOADED)]
    assert idle == ["decoding.threshold"]
    assert "no heads" in field("decoding.heads").idle(Choices(), HEADLESS)


def test_a_preset_takes_the_place_of_drafting_and_sampling_alone():
    choices = Choices(Decoding(budget=3), Sampling(seed=9), Limits(max_tokens=40))
    for preset in BUILT_IN:
        with_it = with_preset(choices, preset)
        assert in_force(preset, with_it, None)
        assert in_force(preset, possible(with_it, LOADED), LOADED)
        assert not in_force(preset, choices, LOADED)
        assert (with_it.limits, with_it.sampling.seed) == (Limits(max_tokens=40), 9)
    assert with_preset(choices, Preset("x", "", Decoding(), Sampling(seed=1))).sampling.seed == 1
