"""A run is read while its folder grows: only what is new, whole rows alone, and anew where the run went back."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from doubles.training_runs import STEPS, begun, end, rows, write

from medusa_chat.engine.errors import MedusaError
from medusa_chat.training.run import LOG, Log
from medusa_chat.tui.training import following
from medusa_chat.tui.training.following import Following
from medusa_chat.tui.training.standing import ago, clock, seconds_left, standing


def followed(folder: Path) -> Following:
    run = Following.begin(folder)
    run.look()
    return run


def test_a_folder_without_a_run_is_refused_in_plain_words(tmp_path: Path) -> None:
    with pytest.raises(MedusaError, match=f"{tmp_path} holds no training run"):
        Following.begin(tmp_path)


def test_what_is_new_is_added(tmp_path: Path) -> None:
    run = followed(begun(tmp_path))
    assert (run.step, run.of, list(run.losses), run.measured) == (0, 0, [], [])
    write(tmp_path, rows(100))
    assert run.look()
    assert (run.step, run.of, len(run.losses), run.rate) == (100, STEPS, 10, 512.0)
    assert run.measured[-1].top1[0] == pytest.approx(rows(100)[-1]["top1"][0])
    write(tmp_path, [row for row in rows(120) if row["step"] > 100])
    assert run.look()
    assert list(run.steps) == list(range(10, 121, 10))
    assert not run.look()


def test_nothing_is_read_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun(tmp_path)
    write(tmp_path, rows(STEPS))
    run = followed(tmp_path)
    taken: list[bytes] = []
    monkeypatch.setattr(Following, "_take", lambda self, line: taken.append(line))
    write(tmp_path, [{"step": 1, "of": 2}])
    run.look()
    run.look()
    assert [json.loads(line) for line in taken] == [{"step": 1, "of": 2}]


def test_a_row_being_written_waits_for_its_end(tmp_path: Path) -> None:
    run = followed(begun(tmp_path))
    line = json.dumps(rows(10)[0])
    (tmp_path / LOG).write_text(line[:20])
    run.look()
    assert not run.losses
    with (tmp_path / LOG).open("a") as file:
        file.write(line[20:] + "\n")
    run.look()
    assert list(run.steps) == [10]


def test_a_long_log_comes_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "AT_ONCE", 1_000)
    begun(tmp_path)
    write(tmp_path, rows(STEPS))
    run = followed(tmp_path)
    assert run.behind
    assert 0 < run.step < STEPS
    while run.behind:
        run.look()
    assert (run.step, len(run.losses)) == (STEPS, STEPS // 10)


@pytest.mark.parametrize(
    "line",
    [
        "no row",
        "[1]",
        "3",
        '{"step": 20}',
        '{"step": 20, "of": "many", "loss": 1, "tokens_per_second": 1}',
        '{"step": 20, "of": 100, "loss": NaN, "tokens_per_second": 1}',
        '{"step": 20, "of": 100, "loss": [1], "tokens_per_second": 1}',
        '{"step": 20, "of": 100, "top1": [0.5], "top5": []}',
        '{"step": 20, "of": 100, "top1": 7, "top5": 8}',
    ],
)
def test_a_row_that_is_none_is_passed_over(tmp_path: Path, line: str) -> None:
    begun(tmp_path)
    write(tmp_path, rows(10))
    with (tmp_path / LOG).open("a") as file:
        file.write(line + "\n")
    write(tmp_path, [row for row in rows(30) if row["step"] > 20])
    run = followed(tmp_path)
    assert (list(run.steps), run.measured, run.step) == ([10, 30], [], 30)


def test_a_run_that_goes_on_from_its_checkpoint_is_read_anew(tmp_path: Path) -> None:
    begun(tmp_path)
    write(tmp_path, rows(300))
    run = followed(tmp_path)
    Log(tmp_path).rewind(200)
    run.look()
    assert (run.step, len(run.losses), len(run.measured)) == (200, 20, 2)


def aged(folder: Path, seconds: float) -> float:
    """Now, where nothing was written for so long."""
    return max(path.stat().st_mtime for path in folder.iterdir()) + seconds


def test_where_it_stands_is_said(tmp_path: Path) -> None:
    run = followed(begun(tmp_path / "my run"))
    folder = run.folder
    assert "waiting for the first step" in standing(run, aged(folder, 60)).text
    assert "stopped 20 minutes ago" in standing(run, aged(folder, 1_200)).text
    write(folder, rows(600))
    run.look()
    assert standing(run, aged(folder, 60)).text == "training"
    told = standing(run, aged(folder, 7_300)).text
    assert told == f"stopped 2 hours ago: medusa-chat train --resume '{folder}' goes on"
    write(folder, [row for row in rows(STEPS) if row["step"] > 600])
    run.look()
    assert "writing the heads" in standing(run, aged(folder, 60)).text
    end(folder)
    run.look()
    assert "finished" in standing(run, aged(folder, 90_000)).text


def test_slow_steps_are_not_taken_for_a_stop(tmp_path: Path) -> None:
    begun(tmp_path)
    write(tmp_path, [{"step": 10, "of": STEPS, "loss": 9.0, "tokens_per_second": 10.0}])
    run = followed(tmp_path)
    assert standing(run, aged(tmp_path, 1_000)).text == "training"
    assert "stopped" in standing(run, aged(tmp_path, 2_000)).text


def test_while_hidden_states_are_written_it_waits(tmp_path: Path) -> None:
    begun(tmp_path)
    (tmp_path / "hidden").mkdir()
    shard = tmp_path / "hidden" / "hidden-00000.safetensors"
    shard.write_bytes(b"")
    later = shard.stat().st_mtime + 5_000
    os.utime(shard, (later, later))
    assert "waiting" in standing(followed(tmp_path), later + 10).text


def test_the_time_left_follows_from_the_pace(tmp_path: Path) -> None:
    run = followed(begun(tmp_path))
    assert seconds_left(run) is None
    write(tmp_path, rows(200))
    run.look()
    assert seconds_left(run) == pytest.approx((STEPS - 200) * 256 / 512)


def test_times_are_told_in_two_units():
    assert [clock(seconds) for seconds in (38, 249, 7_500, 90_000)] == ["38 s", "4 min 09 s", "2 h 05 min", "1 d 01 h"]
    assert [ago(seconds) for seconds in (12, 60, 7_300, 200_000)] == ["12 seconds", "1 minute", "2 hours", "2 days"]
