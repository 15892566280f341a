from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from doubles.wheel_packages import Package, write_card

from medusa_chat import catalog
from medusa_chat.catalog import Card
from medusa_chat.catalog.finding import readable_cards
from medusa_chat.catalog.fits import PRECISIONS
from medusa_chat.catalog.reading import read_card
from medusa_chat.catalog.sources import FolderSource, HubSource, PypiSource
from medusa_chat.engine.errors import MedusaError
from medusa_chat.settings import paths

HUB = 'name = "tiny"\ntitle = "Tiny"\nlicence = "MIT"\n[source]\nkind = "hub"\nrepo = "a/b"\nrevision = "main"\nallow = ["*.json"]\n'


def test_bundled_cards_are_whole() -> None:
    default = catalog.find(catalog.DEFAULT_MODEL)
    assert isinstance(default.source, PypiSource)
    assert default.context == 8192
    assert isinstance(catalog.find("smollm2-135m-instruct-hub").source, HubSource)
    assert [card.name for card in catalog.all_cards()] == sorted(card.name for card in catalog.all_cards())


def test_a_users_card_takes_the_place_of_a_bundled_one(package: Package) -> None:
    text = package.card_text().replace('"tiny"', f'"{catalog.DEFAULT_MODEL}"', 1)
    write_card(text, catalog.DEFAULT_MODEL)
    assert catalog.find(catalog.DEFAULT_MODEL).title == "Tiny"
    assert [card.title for card in catalog.all_cards() if card.name == catalog.DEFAULT_MODEL] == ["Tiny"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('title = "Tiny"', "", "lacks the key title"),
        ('title = "Tiny"', "title = 3", "title = 3"),
        ('title = "Tiny"', 'title = "\\u001b[31mred"', "printable text"),
        ('title = "Tiny"', 'titel = "Tiny"\ntitle = "Tiny"', "unknown key titel"),
        ('name = "tiny"', 'name = "../tiny"', "name = '../tiny'"),
        ('name = "tiny"', 'name = "other"', "make them equal"),
        ('licence = "MIT"', 'licence = "MIT"\nmemory = -1', "memory = -1"),
        ('licence = "MIT"', 'licence = "MIT"\ncontext = true', "context = True"),
        ('licence = "MIT"', 'licence = "MIT"\nheads = "a/b"', "heads = 'a/b'"),
        ("[source]", "[other]", "lacks the key source"),
        ('kind = "hub"', 'kind = "ftp"', "source.kind = 'ftp'"),
        ('repo = "a/b"', 'repo = "b"', "source.repo = 'b'"),
        ('allow = ["*.json"]', "allow = []", "source.allow = []"),
        ('revision = "main"', 'revision = "main"\nrevisoin = ""', "unknown key source.revisoin"),
        ("[source]", "[source", "not valid TOML"),
    ],
)
def test_a_wrong_card_is_refused_by_file_and_key(old: str, new: str, said: str) -> None:
    with pytest.raises(MedusaError) as refused:
        write_card(HUB.replace(old, new))
    assert said in str(refused.value)
    assert str(paths.models_dir() / "tiny" / "card.toml") in str(refused.value)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("wheel_sha256", "abc"),
        ("file_sha256", "G" * 64),
        ("wheel_size", 0),
        ("wheel", "../evil.whl"),
        ("wheel", "model.zip"),
        ("file", "../../evil.gguf"),
        ("file", "/etc/passwd"),
        ("package", "a/b"),
    ],
)
def test_a_wrong_wheel_is_refused(package: Package, key: str, value: Any) -> None:
    with pytest.raises(MedusaError, match=f"source.{key} = "):
        write_card(package.card_text(**{key: value}))


def test_an_unreadable_card_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(MedusaError, match="cannot be read"):
        read_card(tmp_path)
    (tmp_path / "card.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(MedusaError, match="not valid TOML"):
        read_card(tmp_path)


def test_an_unknown_name_lists_what_exists(card: Card) -> None:
    with pytest.raises(MedusaError) as refused:
        catalog.find("tinny")
    assert "smollm2-135m-instruct, smollm2-135m-instruct-hub, tiny" in str(refused.value)
    assert "Did you mean tiny?" in str(refused.value)


def test_a_folder_with_a_config_is_a_model(tmp_path: Path) -> None:
    folder = tmp_path / "My Model\x1b"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"max_position_embeddings": 77}))
    found = catalog.find(str(folder))
    assert found.folder() == folder
    assert found.context == 77
    assert found.is_here()
    assert found.title.isprintable()
    assert catalog.pull(found) == folder


def test_a_folder_without_a_config_is_not(tmp_path: Path) -> None:
    with pytest.raises(MedusaError, match="neither"):
        catalog.find(str(tmp_path))
    (tmp_path / "config.json").write_text("[1")
    with pytest.raises(MedusaError, match=r"config\.json"):
        catalog.find(str(tmp_path))


def test_a_folder_card_is_used_in_place_and_says_when_it_is_gone(tmp_path: Path) -> None:
    card = write_card(
        f'name = "tiny"\ntitle = "T"\nlicence = "MIT"\n[source]\nkind = "folder"\npath = "{tmp_path / "w"}"'
    )
    assert isinstance(card.source, FolderSource)
    with pytest.raises(MedusaError, match=r"no config\.json"):
        catalog.pull(card)
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "config.json").write_text("{}")
    assert catalog.pull(card) == tmp_path / "w"


def test_weights_that_are_not_here_name_the_command(card: Card) -> None:
    assert not card.is_here()
    with pytest.raises(MedusaError, match="medusa-chat models pull tiny"):
        card.folder()


def test_own_heads_come_before_bundled_ones(tmp_path: Path, package: Package) -> None:
    bundled = tmp_path / "cards" / "tiny"
    (bundled / "heads").mkdir(parents=True)
    (bundled / "card.toml").write_text(package.card_text())
    card = catalog.find(str(bundled))
    assert card.heads_folder() == bundled / "heads"
    own = paths.models_dir() / "tiny" / "heads"
    own.mkdir(parents=True)
    assert card.heads_folder() == own


def test_a_bare_folder_never_takes_the_heads_of_a_card_with_its_name(tmp_path: Path) -> None:
    (paths.models_dir() / "tiny" / "heads").mkdir(parents=True)
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "config.json").write_text("{}")
    assert catalog.find(str(tmp_path / "tiny")).heads_folder() is None


def test_fit_compares_need_with_what_is_free() -> None:
    default = catalog.find(catalog.DEFAULT_MODEL)
    assert default.memory is not None
    on_graphics = catalog.fit(default, cuda_free=1).needed
    assert on_graphics is not None
    assert on_graphics < default.memory, "weights are 16 bits there"
    assert catalog.fit(default, cuda_free=on_graphics).fits is True
    assert catalog.fit(default, cuda_free=on_graphics - 1).fits is False
    assert catalog.fit(default, "nf4", cuda_free=on_graphics - 1).fits is True
    assert catalog.fit(default).available > 0


def test_fewer_bits_run_in_less_memory_but_are_loaded_whole_on_a_processor() -> None:
    default = catalog.find(catalog.DEFAULT_MODEL)
    fits = {precision: catalog.fit(default, precision) for precision in PRECISIONS}
    running = [fits[precision].running or 0 for precision in ("none", "fp16", "int8", "int4", "nf4")]
    assert running == sorted(running, reverse=True)
    assert len(set(running)) == len(running)
    assert fits["auto"] == fits["none"] or fits["auto"].needed == fits["none"].needed
    assert fits["int8"].needed == fits["none"].needed == default.memory
    assert fits["nf4"].needed == fits["nf4"].running


def test_precisions_are_those_the_engine_knows() -> None:
    from medusa_chat.engine.loading import QUANTIZE

    assert set(PRECISIONS) == set(QUANTIZE)


def test_one_wrong_card_does_not_hide_the_others(card: Card) -> None:
    (paths.models_dir() / "wrong").mkdir()
    (paths.models_dir() / "wrong" / "card.toml").write_text("name = 3")
    cards, problems = readable_cards()
    assert card.name in [each.name for each in cards]
    assert [str(paths.models_dir() / "wrong") in problem for problem in problems] == [True]


def test_fit_of_an_unknown_need_is_unknown(card: Card) -> None:
    assert catalog.fit(card).fits is None


def test_the_catalog_imports_neither_torch_nor_a_network_library() -> None:
    code = (
        "import sys, medusa_chat.catalog, medusa_chat.cli.models\n"
        "heavy = {'torch', 'transformers', 'huggingface_hub', 'requests', 'rich'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ})
