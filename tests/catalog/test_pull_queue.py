"""Pulls in processes of their own: progress, one after the other, cancelled and gone on with."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from doubles.file_site import Site
from doubles.pull_without_converting import COMMAND, LINGERS
from doubles.wheel_packages import Package, package_of, serve, write_card

from medusa_chat.catalog import Card
from medusa_chat.catalog.presence import presence
from medusa_chat.catalog.pull_process import Rate
from medusa_chat.catalog.pull_queue import Ended, Pulling, PullQueue
from medusa_chat.settings import paths

LARGE = 8_000_000


@pytest.fixture
def queue(site: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[PullQueue]:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    monkeypatch.setenv("PIP_INDEX_URL", f"{site.url}/simple")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    queue = PullQueue(COMMAND)
    yield queue
    queue.close()


def until(queue: PullQueue, condition: Callable[[], object]) -> list[Ended]:
    """Look until it holds; what ended meanwhile."""
    ended: list[Ended] = []
    for _ in range(3000):
        ended += queue.look()
        if condition():
            return ended
        time.sleep(0.01)
    pytest.fail(f"never came: {queue.running} {ended}")


def finish(queue: PullQueue) -> list[Ended]:
    return until(queue, lambda: queue.running is None and not queue.waiting)


def test_a_pull_tells_how_far_it_is_and_leaves_the_weights(
    queue: PullQueue, site: Site, package: Package, card: Card
) -> None:
    serve(site, package)
    queue.add(card)
    queue.add(card)
    assert queue.knows("tiny")
    assert queue.waiting == ("tiny",)
    assert finish(queue) == [Ended("tiny", False, None)]
    assert presence(card).here
    assert not queue.knows("tiny")


def test_one_after_the_other_and_a_waiting_one_can_be_taken_out(
    queue: PullQueue, site: Site, package: Package, card: Card
) -> None:
    serve(site, package)
    others = [write_card(package.card_text().replace('"tiny"', f'"{name}"', 1), name) for name in ("one", "two")]
    for each in (card, *others):
        queue.add(each)
    until(queue, lambda: queue.running is not None)
    assert queue.waiting == ("one", "two")
    assert queue.cancel("one")
    assert not queue.cancel("none such")
    assert [ended.name for ended in finish(queue)] == ["tiny", "two"]
    assert not others[0].is_here()


def test_a_cancelled_pull_keeps_what_was_downloaded_and_goes_on_there(queue: PullQueue, site: Site, card: Card) -> None:
    """The connection stays open half way, as on a slow line."""
    package = package_of(os.urandom(LARGE))
    card = write_card(package.card_text())
    serve(site, package)
    site.stall_after = [5_000_000]
    queue.add(card)
    until(queue, lambda: presence(card).part > 0.5 and queue.running is not None and queue.running.total)
    running = queue.running
    assert running is not None
    assert running.total == len(package.wheel)
    queue.cancel("tiny")
    assert finish(queue) == [Ended("tiny", True, None)]
    site.go_on()
    kept = presence(card)
    assert not kept.here
    assert 0.5 < kept.part < 0.7
    assert kept.taken > 4_900_000
    site.asked.clear()
    queue.add(card)
    assert finish(queue) == [Ended("tiny", False, None)]
    assert f"bytes={kept.taken}-" in [asked for _, path, asked in site.asked if path.endswith(".whl")]


@pytest.mark.skipif(sys.platform == "win32", reason="there the conversion is simply ended")
def test_a_conversion_is_interrupted_and_leaves_the_download(queue: PullQueue, site: Site) -> None:
    package = package_of(LINGERS + bytes(5000))
    card = write_card(package.card_text())
    serve(site, package)
    queue.add(card)
    until(queue, lambda: queue.running is not None and queue.running.stage == "reading the weights")
    assert queue.running == Pulling("tiny", "reading the weights", 0.5, None, None)
    queue.cancel("tiny")
    assert finish(queue) == [Ended("tiny", True, None)]
    assert [entry.name for entry in (card.store / "download").iterdir()] == [package.wheel_name]


def test_what_is_in_the_way_is_one_sentence(queue: PullQueue, site: Site, package: Package, card: Card) -> None:
    queue.add(card)
    (ended,) = finish(queue)
    assert ended.problem is not None
    assert package.wheel_name in ended.problem
    serve(site, package)
    site.files[f"/files/{package.wheel_name}"] = bytes(len(package.wheel))
    queue.add(card)
    (ended,) = finish(queue)
    assert ended.problem is not None
    assert "sha256" in ended.problem


def test_a_process_that_dies_or_never_starts(card: Card) -> None:
    for command, said in (
        ((sys.executable, "-c", "print('noise'); print('[]'); raise SystemExit(3)"), "exit status 3"),
        (("/no/such/program",), "could not be started (No such file or directory)"),
    ):
        queue = PullQueue(command)
        queue.add(card)
        (ended,) = finish(queue)
        assert said in (ended.problem or "")


def test_closing_ends_the_process(queue: PullQueue, site: Site) -> None:
    package = package_of(LINGERS + bytes(5000))
    serve(site, package)
    queue.add(write_card(package.card_text()))
    until(queue, lambda: queue.running is not None and queue.running.stage == "reading the weights")
    queue.close()
    assert queue.running is None
    assert queue.look() == []


def test_a_fault_inside_a_pull_is_one_sentence_and_goes_into_the_log(card: Card) -> None:
    code = (
        "import sys; from medusa_chat import catalog; from medusa_chat.catalog import pull_child\n"
        "catalog.pull = lambda *_: 1 / 0\nsys.exit(pull_child.main(['tiny']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "The pull failed (ZeroDivisionError)" in done.stdout
    assert str(paths.log_file()) in done.stdout
    assert "Traceback" in done.stderr


def test_rate_and_time_left() -> None:
    rate = Rate()
    assert rate.per_second(10.0) is None
    rate.add(10.0, 0.2)
    assert rate.per_second(10.0) is None
    rate.add(12.0, 0.4)
    assert rate.per_second(12.5) == pytest.approx(0.1)
    assert rate.per_second(30.0) == pytest.approx(0.01), "nothing has come since"
    rate.add(13.0, 0.0)
    assert rate.per_second(13.0) is None, "it begins anew"
    assert Pulling("tiny", "downloading", 0.5, 1000, 100.0).seconds_left == pytest.approx(5.0)
    assert Pulling("tiny", "downloading", 0.5, 1000, None).seconds_left is None
