"""`--preset` stands for flags, and flags beside it win."""

from __future__ import annotations

import pytest

from medusa_chat.engine.options import Decoding, Sampling
from medusa_chat.settings import presets
from medusa_chat.settings.own_presets import presets_file


@pytest.fixture
def settings(monkeypatch):
    """The options each answer was started with."""
    from medusa_chat.host.session import Session

    started = []
    start = Session.start

    def noted(self, prompt_ids, sampling, decoding, limits, *more, **others):
        started.append((decoding, sampling))
        return start(self, prompt_ids, sampling, decoding, limits, *more, **others)

    monkeypatch.setattr(Session, "start", noted)
    return started


@pytest.mark.parametrize("preset", presets.BUILT_IN, ids=lambda preset: preset.name)
def test_a_preset_s_settings_are_those_of_the_answer(medusa, tiny_model, settings, preset):
    ended = medusa("run", "hello", "--model", tiny_model, "--max-tokens", "5", "--preset", preset.name)
    assert (ended.code, ended.err) == (0, "")
    assert settings == [(preset.decoding, preset.sampling)]


def test_flags_beside_it_win(medusa, tiny_model, settings):
    flags = ("--top-k", "9", "--preset", "balanced", "--rule", "lossless", "--heads", "1")
    assert medusa("run", "hello", "--model", tiny_model, "--max-tokens", "5", *flags).code == 0
    ((decoding, sampling),) = settings
    assert (decoding.rule, decoding.heads, decoding.budget, decoding.top_k) == ("lossless", 1, 8, 6)
    assert (sampling.temperature, sampling.top_k) == (0.7, 9)


def test_the_person_s_own_and_several_lanes(medusa, tiny_model, settings):
    presets.save("mine", "", Decoding("medusa", 6, top_k=3, tree="cartesian"), Sampling(seed=4))
    flags = ("--preset", "mine", "--decoders", "plain,medusa")
    assert medusa("compare", "hello", "--model", tiny_model, "--max-tokens", "5", *flags).code == 0
    assert [decoding.decoder for decoding, _ in settings] == ["plain", "medusa"]
    assert {(decoding.budget, decoding.tree, sampling.seed) for decoding, sampling in settings} == {(6, "cartesian", 4)}
    settings.clear()
    assert medusa("run", "hello", "--model", tiny_model, "--max-tokens", "5", "--preset", "Mine").code == 0
    assert settings == [(Decoding("medusa", 6, top_k=3, tree="cartesian"), Sampling(seed=4))]


def test_one_that_is_not_there_or_wrong(medusa):
    presets_file().write_text("[mine.decoding]\nbudget = 0\n", encoding="utf-8")
    ended = medusa("run", "hello", "--preset", "creativ")
    assert ended.code == 2
    assert "There is no preset creativ; did you mean creative?" in ended.err
    ended = medusa("run", "hello", "--preset", "mine")
    assert ended.code == 2
    assert "budget is 0; it must be between 1 and 256" in ended.err
