"""Named settings: those of the program, and the person's own in a file of theirs."""

from __future__ import annotations

import pytest

from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.options import Decoding, Sampling
from medusa_chat.settings import presets
from medusa_chat.settings.own_presets import presets_file

BUILT_IN = ["exact", "creative", "conservative", "balanced", "standard", "aggressive"]
HAND_WRITTEN = """# mine
[night] # for stories
description = "for stories"
decoding = { rule = "typical", epsilon = 0.05 }

# before breakfast
[Morning]
sampling = { temperature = 1, seed = 7 }
"""


@pytest.fixture(autouse=True)
def _own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("MEDUSA_CHAT_HOME", str(tmp_path / "home"))


def write(text: str | bytes) -> None:
    presets_file().write_bytes(text if isinstance(text, bytes) else text.encode())


def read() -> str:
    return presets_file().read_text(encoding="utf-8")


def test_the_program_s_own_are_always_there():
    assert presets.all_presets().names == BUILT_IN
    assert not presets.all_presets().problems
    assert not any(preset.own for preset in presets.all_presets().presets)


def test_every_lossy_one_says_so_and_could_change_words():
    for preset in presets.BUILT_IN:
        assert ("lossy" in preset.description.replace("lossless", "")) == preset.lossy
        assert ("lossless" in preset.description) != preset.lossy
        assert not (preset.lossy and preset.sampling.greedy)


def test_from_conservative_to_aggressive_everything_grows():
    ladder = [presets.all_presets().find(name).decoding for name in BUILT_IN[2:]]
    assert [step.heads for step in ladder] == [2, 3, 4, 5]
    assert [step.epsilon for step in ladder[1:]] == [0.15, 0.09, 0.05]
    for field in ("budget", "top_k"):
        values = [getattr(step, field) for step in ladder]
        assert values == sorted(set(values))


def test_a_preset_keeps_the_seed_unless_it_names_one():
    creative = presets.all_presets().find("creative")
    assert creative.drawn_with(Sampling(seed=5)).seed == 5
    own = presets.Preset("mine", "", Decoding(), Sampling(seed=3))
    assert own.drawn_with(Sampling(seed=5)).seed == 3


def test_a_saved_one_is_found_again_with_every_value():
    decoding = Decoding("medusa", 12, 3, 4, "cartesian", "threshold", 0.2, 0.5, 0.15)
    sampling = Sampling(0.7, 40, 0.9, 0.1, 1.2, 99)
    presets.save(" late night ", "for stories", decoding, sampling)
    found = presets.all_presets().find("Late Night")
    assert found == presets.Preset("late night", "for stories", decoding, sampling, own=True)
    presets.save("late night", "", Decoding(), Sampling())
    found = presets.all_presets().find("late night")
    assert (found.decoding, found.sampling) == (Decoding(), Sampling())


def test_saving_and_deleting_leave_the_rest_of_the_file():
    write(HAND_WRITTEN)
    presets.save("night", "for stories", Decoding(rule="greedy"), Sampling())
    assert read().startswith("# mine\n[night] # for stories\n")
    assert read().endswith(HAND_WRITTEN[HAND_WRITTEN.index("# before") :])
    presets.delete("night")
    assert read() == "# mine\n" + HAND_WRITTEN[HAND_WRITTEN.index("# before") :]
    presets.delete("Morning")
    assert presets.all_presets().names == BUILT_IN


@pytest.mark.parametrize("name", ["a b", "a.b".replace(".", "-"), "日本", "x_1"])
def test_one_among_others_is_deleted_whatever_its_name(name):
    for each in ("first", name, "zuletzt"):
        presets.save(each, "", Decoding(), Sampling())
    presets.delete(name)
    assert presets.all_presets().names == [*BUILT_IN, "first", "zuletzt"]


def test_one_written_inline_is_deleted_too():
    write('night.description = "a"\n[other]\ndescription = """\n[night]\n"""\n')
    presets.delete("night")
    assert presets.all_presets().names == [*BUILT_IN, "other"]
    assert "[night]" in presets.all_presets().find("other").description


def test_what_a_preset_leaves_out_is_as_the_program_has_it():
    write(HAND_WRITTEN)
    night = presets.all_presets().find("night")
    assert night.decoding == Decoding(rule="typical", epsilon=0.05)
    assert night.sampling == Sampling()
    assert presets.all_presets().find("morning").sampling == Sampling(temperature=1.0, seed=7)


BAD = [
    ("bad = 3", r"\[bad\] of .*presets\.toml is no table"),
    ('[bad]\nrule = "greedy"', r"there is no rule; it may hold description, decoding, sampling"),
    ("[bad]\ndescription = 3", "description is 3; it must be a text in quotes"),
    ("[bad.decoding]\nrul = 3", "there is no rul; did you mean rule"),
    ('[bad.decoding]\nrule = "wild"', "rule is wild; it must be one of greedy"),
    ("[bad.decoding]\nrule = true", "rule is True; it must be a word in quotes"),
    ("[bad.decoding]\nbudget = 0", "budget is 0; it must be between 1 and 256"),
    ('[bad.decoding]\nbudget = "lots"', "budget is 'lots'; it must be a whole number or \"auto\""),
    ("[bad.decoding]\nheads = true", 'heads is True; it must be a whole number or "all"'),
    ("[bad]\ndecoding = 3", "the decoding of .* is no table"),
    ('[bad.sampling]\ntemperature = "hot"', "temperature is 'hot'; it must be a number"),
    ("[bad.sampling]\ntemperature = nan", "temperature is nan; it must be between 0 and 10"),
    ("[bad.sampling]\nseed = -1", "seed is -1"),
    ('["a/b"]\n', "'a/b' cannot name a preset"),
    ("[Exact]\n", "names a preset Exact, as one of the program is named: rename it"),
]


@pytest.mark.parametrize(("text", "message"), BAD)
def test_a_wrong_one_is_told_in_one_sentence_and_the_others_stay(text, message):
    write(text + "\n\n" + HAND_WRITTEN)
    found = presets.all_presets()
    assert found.names == [*BUILT_IN, "Morning", "night"]
    (problem,) = found.problems
    assert "presets.toml" in problem
    assert "\n" not in problem
    with pytest.raises(MedusaError, match=message):
        raise MedusaError(problem)


@pytest.mark.parametrize("text", [b"\xff", "[a\n", "a = 1\na = 2\n"])
def test_a_broken_file_takes_nothing_from_the_program_s_and_is_never_written(text):
    write(text)
    before = presets_file().read_bytes()
    assert presets.all_presets().names == BUILT_IN
    assert "presets.toml" in presets.all_presets().problems[0]
    for attempt in (lambda: presets.save("x", "", Decoding(), Sampling()), lambda: presets.delete("x")):
        with pytest.raises(MedusaError, match=r"presets\.toml"):
            attempt()
    assert presets_file().read_bytes() == before


@pytest.mark.parametrize("name", ["", " ", "-x", "_x", "a" * 33, "a/b", "a\nb", "[x]", "a\x1bb"])
def test_a_name_that_cannot_be_one(name):
    with pytest.raises(MedusaError, match="cannot name a preset: at most 32 letters"):
        presets.save(name, "", Decoding(), Sampling())
    assert not presets_file().exists()


@pytest.mark.parametrize("name", ["exact", "Exact", " EXACT "])
def test_the_program_s_names_are_taken(name):
    with pytest.raises(MedusaError, match="is a preset of the program; take another name"):
        presets.save(name, "", Decoding(), Sampling())


def test_what_is_not_there():
    write("[night.decoding]\nbudget = 0\n")
    with pytest.raises(MedusaError, match="no preset creativ; did you mean creative"):
        presets.all_presets().find("creativ")
    with pytest.raises(MedusaError, match="no preset 42; there are exact, creative"):
        presets.all_presets().find("42")
    with pytest.raises(MedusaError, match="budget is 0"):
        presets.all_presets().find("night")
    with pytest.raises(MedusaError, match=r"no preset gone in .*presets\.toml"):
        presets.delete("gone")
