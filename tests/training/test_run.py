"""The folder of a run."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from medusa_chat.engine.errors import MedusaError
from medusa_chat.training.checkpoint import load_checkpoint, save_checkpoint
from medusa_chat.training.recipe import Recipe
from medusa_chat.training.run import Log, Run, curves, read_log

RUN = Run("medusa1", "tiny", ("a.jsonl", "b.jsonl"), Recipe(heads=3), "medusa-chat train medusa1 --heads 3")


def test_a_run_is_kept_and_read_again(tmp_path: Path) -> None:
    RUN.begin(tmp_path / "new" / "run")
    assert Run.load(tmp_path / "new" / "run") == RUN


def test_a_run_is_never_begun_over_another(tmp_path: Path) -> None:
    RUN.begin(tmp_path)
    with pytest.raises(MedusaError, match=r"already holds a training run: go on with .*--resume"):
        RUN.begin(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(MedusaError, match="cannot be written"):
        RUN.begin(tmp_path / "file" / "run")


@pytest.mark.parametrize("text", [None, "{", "[]", '{"method": "medusa1"}', '{"recipe": {"colour": 3}, "data": []}'])
def test_a_folder_without_a_run_is_named(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "run.json").write_text(text)
    with pytest.raises(MedusaError, match="holds no training run"):
        Run.load(tmp_path)


def test_a_log_forgets_what_came_after_the_checkpoint(tmp_path: Path) -> None:
    log = Log(tmp_path)
    for step in (10, 20, 30):
        log.write(step=step, loss=1.0)
    with (tmp_path / "log.jsonl").open("a") as file:
        file.write('{"step": 40, "lo')
    assert [row["step"] for row in read_log(tmp_path)] == [10, 20, 30]
    log.rewind(20)
    log.write(step=25, loss=0.5)
    assert [row["step"] for row in read_log(tmp_path)] == [10, 20, 25]


def test_no_log_is_an_empty_one(tmp_path: Path) -> None:
    assert read_log(tmp_path) == []
    assert curves([]).startswith("<svg")


def test_curves_have_a_panel_for_what_was_measured() -> None:
    rows = [{"step": 10, "loss": 2.0}, {"step": 10, "top1": [0.3, 0.2], "top5": [0.5, 0.4]}]
    assert "held-out top-1" in curves(rows)
    assert "drift" not in curves(rows)
    assert "drift" in curves([*rows, {"step": 20, "top1": [0.4, 0.2], "top5": [0.5, 0.4], "kl": 0.01}])


def test_checkpoints_are_whole_or_not_there(tmp_path: Path) -> None:
    assert load_checkpoint(tmp_path) is None
    save_checkpoint(tmp_path, {"step": 3, "weights": {"a": torch.ones(2)}})
    state = load_checkpoint(tmp_path)
    assert state is not None
    assert state["step"] == 3
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint.pt"]
    (tmp_path / "checkpoint.pt").write_bytes((tmp_path / "checkpoint.pt").read_bytes()[:100])
    with pytest.raises(MedusaError, match="cannot be read: delete it"):
        load_checkpoint(tmp_path)
