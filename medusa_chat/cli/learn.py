"""`medusa-chat learn`: heads learn from the conversations kept on this machine. The app runs it when nobody is there."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import click

from medusa_chat.catalog import DEFAULT_MODEL
from medusa_chat.cli.exit_codes import DONE
from medusa_chat.cli.json_lines import emit
from medusa_chat.engine.errors import MedusaError

if TYPE_CHECKING:
    from medusa_chat.catalog.card import Card
    from medusa_chat.training.lessons import Answered, Learned
    from medusa_chat.training.recipe import Recipe

LOOK_EVERY = 5.0
"""Seconds between two looks at whether the machine runs on its battery."""
NODES = 16
"""Of the trees that old and new heads are compared with."""


@click.command
@click.option("--model", default=DEFAULT_MODEL, show_default=True, help="Model card.")
@click.option(
    "--share", type=click.FloatRange(0.05, 1), default=1.0, show_default=True, help="Of the processor that may be used."
)
@click.option("--epochs", type=click.FloatRange(min=0, min_open=True), default=4.0, show_default=True)
@click.option("--on-battery", is_flag=True, help="Also while the machine is not plugged in.")
@click.option("--forget", is_flag=True, help="Go back to the heads from before, and learn nothing.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout, nothing else.")
def learn(model: str, share: float, epochs: float, on_battery: bool, forget: bool, as_json: bool) -> int:
    """Train the model's heads further on your own conversations; nothing leaves this machine.

    A tenth of the answers is held out: only heads that get at least 1 % more accepted tokens per step there are used,
    from the next answer on. Conversations that were excluded are never read. A run that was stopped goes on.
    """
    from medusa_chat import catalog

    card = catalog.find(model)
    if forget:
        there = card.learned_folder.is_dir()
        shutil.rmtree(card.learned_folder, ignore_errors=True)
        _say(as_json, {"event": "forgot", "learned": there}, _forgot(there))
        return DONE
    pause = Pace(share, on_battery)
    with _alone(card):
        learned, used = _lesson(card, epochs, pause)
    _say(as_json, {"event": "learned", **_figures(learned), "used": used}, _told(learned, used))
    return DONE


@dataclass(slots=True)
class Pace:
    """Keeps training within its share of the processor, and off the battery."""

    share: float
    on_battery: bool
    _last: float = 0.0
    _looked: float = 0.0

    def threads(self) -> int:
        """As many as the share allows and other programs leave free: threads that wait for each other crawl."""
        import psutil

        cores = os.cpu_count() or 1
        return max(1, min(int(cores * self.share), cores - round(psutil.getloadavg()[0])))

    def __call__(self) -> None:
        """After every piece of work.

        Raises:
            MedusaError: the machine is no longer plugged in.
        """
        now = monotonic()
        # One thread may be more than the share.
        rest = 1.0 / ((os.cpu_count() or 1) * self.share) - 1.0
        if self._last and rest > 0:
            sleep(min(rest * (now - self._last), 5.0))
        self._last = monotonic()
        if not self.on_battery and self._last - self._looked > LOOK_EVERY:
            self._looked = self._last
            if on_battery_now():
                raise MedusaError("This machine runs on its battery: learning goes on when it is plugged in.")


def on_battery_now() -> bool:
    """False where there is no battery, or nobody knows."""
    import psutil

    battery: Any = getattr(psutil, "sensors_battery", lambda: None)()
    return battery is not None and battery.power_plugged is False


def _lesson(card: Card, epochs: float, pause: Pace) -> tuple[Learned, bool]:
    import torch

    from medusa_chat.engine.loading import load_backbone
    from medusa_chat.engine.shapes.calibration import Calibration
    from medusa_chat.heads.store import load_heads
    from medusa_chat.training.lessons import learn as teach
    from medusa_chat.training.lessons import parted

    torch.set_num_threads(pause.threads())
    folder = card.heads_folder()
    if folder is None:
        raise MedusaError(f"{card.name} has no heads that could learn: train some with medusa-chat train medusa1.")
    pause()
    backbone, tokenizer = load_backbone(card.folder(), packed=False)
    answers = _answers(card, tokenizer)
    split = parted(answers, backbone.context)
    work = _workplace(card, answers)
    calibration = Calibration.load(folder)
    heads = load_heads(folder, backbone, frozen=False).heads
    learned = teach(
        backbone, heads, calibration, split, work, recipe(epochs), NODES, lambda stage, done, of, note: pause()
    )
    if learned.better:
        _keep(card, learned, calibration, backbone)
    shutil.rmtree(work, ignore_errors=True)
    with (card.store / "lessons.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({**_figures(learned), "used": learned.better}) + "\n")
    return learned, learned.better


def recipe(epochs: float) -> Recipe:
    """Small steps: the heads know the model already, and are to learn what its person talks about."""
    from medusa_chat.training.recipe import Recipe

    return Recipe(epochs=epochs, batch=128, learning_rate=1e-3, dropout=0.2)


def _answers(card: Card, tokenizer: Any) -> list[Answered]:
    from medusa_chat.chats.database import Database
    from medusa_chat.settings.paths import chats_file
    from medusa_chat.training.lessons import answered

    db = Database(chats_file())
    try:
        return answered(db, card.name, tokenizer)
    finally:
        db.close()


def _workplace(card: Card, answers: list[Answered]) -> Path:
    """A folder of its own for these answers on top of these heads: what was begun on others is begun anew."""
    heads = card.heads_folder()
    stamp = 0 if heads is None else (heads / "config.json").stat().st_mtime_ns
    key = json.dumps([stamp, [one.message for one in answers]]).encode()
    wanted = card.store / "lesson" / blake2b(key, digest_size=8).hexdigest()
    for other in (card.store / "lesson").glob("*"):
        if other != wanted:
            shutil.rmtree(other, ignore_errors=True)
    wanted.mkdir(parents=True, exist_ok=True)
    return wanted


def _keep(card: Card, learned: Learned, calibration: Any, backbone: Any) -> None:
    """Put the new heads where the next answer finds them, in one move."""
    from medusa_chat.heads.store import save_heads

    fresh = card.store / "learned.new"
    shutil.rmtree(fresh, ignore_errors=True)
    save_heads(learned.heads, fresh, backbone, card.name, {"method": "learned from use", **_figures(learned)})
    if calibration is not None:
        calibration.save(fresh)
    (fresh / "lesson.json").write_text(json.dumps(_figures(learned)) + "\n", encoding="utf-8")
    old = card.store / "learned.old"
    shutil.rmtree(old, ignore_errors=True)
    if card.learned_folder.is_dir():
        card.learned_folder.rename(old)
    fresh.rename(card.learned_folder)
    shutil.rmtree(old, ignore_errors=True)


@contextmanager
def _alone(card: Card) -> Iterator[None]:
    """
    Raises:
        MedusaError: another one learns for this model already.
    """
    from filelock import FileLock, Timeout

    card.store.mkdir(parents=True, exist_ok=True)
    lock = FileLock(card.store / "learn.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise MedusaError(f"The heads of {card.name} are learning already.") from error
    try:
        yield
    finally:
        lock.release()


def _figures(learned: Learned) -> dict[str, Any]:
    return {
        "answers": learned.answers,
        "held_out": learned.held_out,
        "before": round(learned.before, 4),
        "after": round(learned.after, 4),
        "nodes": learned.nodes,
    }


def _told(learned: Learned, used: bool) -> str:
    verdict = "the new heads are used from the next answer on" if used else "not better by 1 %, so nothing changes"
    return (
        f"learned from {learned.answers} answers; on {learned.held_out} others {learned.before:.3f} accepted tokens per "
        f"step before, {learned.after:.3f} now ({100 * (learned.after / learned.before - 1):+.1f} %): {verdict}."
    )


def _forgot(there: bool) -> str:
    return "The heads from before are used again." if there else "There was nothing to forget."


def _say(as_json: bool, event: dict[str, Any], sentence: str) -> None:
    if as_json:
        emit(event)
    else:
        click.echo(sentence)
