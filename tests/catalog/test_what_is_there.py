"""What a screen wants to know of a model without loading it: how much is here, its heads, the graphics card."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from doubles.wheel_packages import Package, write_card

from medusa_chat import catalog
from medusa_chat.catalog import Card
from medusa_chat.catalog.graphics import Graphics, graphics
from medusa_chat.catalog.head_facts import HeadFacts, read_heads
from medusa_chat.catalog.presence import presence
from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.shapes.calibration import Calibration

HUB = 'name = "tiny"\ntitle = "Tiny"\nlicence = "MIT"\ndisk = 1000\n[source]\nkind = "hub"\nrepo = "a/b"\nrevision = "main"\nallow = ["*.json"]\n'


def test_nothing_is_here_yet(card: Card) -> None:
    assert presence(card) == presence(write_card(HUB.replace("tiny", "other", 1), "other"))
    assert not presence(card).here
    assert presence(card).part == presence(card).taken == 0


def test_a_hub_model_is_partly_here_when_its_files_are_in_the_hub_s_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    monkeypatch.delenv("HUGGINGFACE_HUB_CACHE", raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    card = write_card(HUB)
    blobs = tmp_path / "hf" / "hub" / "models--a--b" / "blobs"
    blobs.mkdir(parents=True)
    (blobs / "one").write_bytes(bytes(300))
    (blobs / "two.incomplete").write_bytes(bytes(130))
    assert presence(card).part == pytest.approx(0.43)
    (blobs / "two.incomplete").write_bytes(bytes(3000))
    assert presence(card).part < 1.0


@pytest.mark.parametrize("variable", ["HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "NONE"])
def test_the_hub_s_cache_is_found_as_its_own_library_does(tmp_path: Path, variable: str) -> None:
    code = (
        "import os; from huggingface_hub import constants; from medusa_chat.catalog.presence import _hub_cache\n"
        "assert str(_hub_cache()) == constants.HF_HUB_CACHE, (_hub_cache(), constants.HF_HUB_CACHE)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"HOME": str(tmp_path), variable: "~/somewhere"})


def test_heads_say_how_good_they_are_as_their_calibration_does() -> None:
    folder = catalog.find(catalog.DEFAULT_MODEL).heads_folder()
    assert folder is not None
    facts, calibration = read_heads(folder), Calibration.load(folder)
    assert calibration is not None
    assert facts.count == len(calibration.accuracy) == 4
    assert facts.first == tuple(head[0] for head in calibration.accuracy)
    assert facts.among_five == tuple(pytest.approx(sum(head[:5])) for head in calibration.accuracy)
    assert facts.tokens_per_step == calibration.expected[calibration.budget]
    assert facts.made_for == catalog.DEFAULT_MODEL


def test_heads_without_a_calibration_are_counted_alone(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"medusa_num_heads": 3}')
    assert read_heads(tmp_path) == HeadFacts(3, "")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("config.json", None, "config.json is missing"),
        ("config.json", "{", "cannot be read as JSON"),
        ("config.json", "[]", "holds no object"),
        ("config.json", '{"medusa_num_heads": "four"}', "does not say how many heads"),
        ("calibration.json", '{"accuracy": 1}', "is not a calibration"),
        ("calibration.json", "[", "cannot be read as JSON"),
    ],
)
def test_damaged_heads_are_named(tmp_path: Path, name: str, text: str | None, said: str) -> None:
    (tmp_path / "config.json").write_text('{"medusa_num_heads": 3}')
    if text is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_text(text)
    with pytest.raises(MedusaError) as refused:
        read_heads(tmp_path)
    assert said in str(refused.value)
    assert str(tmp_path / name) in str(refused.value)


@pytest.mark.skipif(os.name != "posix", reason="the stand-in for the driver's tool is a shell script")
@pytest.mark.parametrize(
    ("says", "expected"),
    [
        ("echo 'Card, the big one, 1000, 900'", Graphics("Card, the big one", 1000 << 20, 900 << 20)),
        ("echo 'No devices were found'", None),
        ("exit 9", None),
        ("true", None),
    ],
)
def test_the_graphics_card_s_memory_is_asked_of_its_driver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str, expected: Graphics | None
) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\n{says}\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert graphics() == expected
    tool.unlink()
    assert graphics() is None


def test_removing_frees_what_was_said(package: Package, card: Card) -> None:
    download = card.store / "download"
    download.mkdir()
    (download / f"{package.wheel_name}.part").write_bytes(bytes(len(package.wheel) // 2))
    there = presence(card)
    assert 0.4 < there.part < 0.6
    assert there.taken == len(package.wheel) // 2
    catalog.remove(card)
    assert presence(card).taken == 0
    assert json.dumps(presence(card).part) == "0.0"
