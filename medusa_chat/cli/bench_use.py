"""`medusa-chat bench use`: what heads learn from a person who stays with one subject."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from medusa_chat.bench.subject_questions import questions
from medusa_chat.cli import options
from medusa_chat.cli.bench_options import finish, json_option
from medusa_chat.cli.exit_codes import DONE
from medusa_chat.cli.opening import open_session
from medusa_chat.cli.progress import Loading, countdown
from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.options import Decoding, Limits, Sampling

if TYPE_CHECKING:
    from rich.table import Table

    from medusa_chat.chats.database import Database
    from medusa_chat.host.session import Session
    from medusa_chat.training.lessons import Learned

NODES = 16


@dataclass(frozen=True, slots=True)
class Decoded:
    """Questions answered by heads alone."""

    tokens: int
    steps: int

    @property
    def accepted_length(self) -> float:
        return self.tokens / max(1, self.steps)


@click.command
@options.model_options
@click.option("--answers", type=click.IntRange(20, 69), default=60, show_default=True, help="To learn from.")
@click.option("--tokens", type=click.IntRange(min=1), default=200, show_default=True, help="Longest answer.")
@click.option("--epochs", type=click.FloatRange(min=0, min_open=True), default=4.0, show_default=True)
@json_option
def use(answers: int, tokens: int, epochs: float, file: Path | None, **flags: Any) -> int:
    """Let a scripted person ask about one subject, let the heads learn from the answers, and decode further ones.

    Everything happens in a folder of its own: your conversations and your heads are not touched.
    """
    with Loading() as loading:
        session = open_session(flags, loading)
    if session.heads is None:
        raise MedusaError(f"{session.model} has no heads that could learn: train some with medusa-chat train medusa1.")
    asked = questions()
    further = asked[answers : answers + 10]
    with TemporaryDirectory() as folder:
        _converse(session, Path(folder), asked[:answers], tokens)
        before = _decode(session, further, tokens)
        learned = _lesson(session, Path(folder), epochs)
        after = _decode(session, further, tokens)
    figures = {
        "lesson": _plain(learned),
        "before": {**asdict(before), "accepted_length": before.accepted_length},
        "after": {**asdict(after), "accepted_length": after.accepted_length},
    }
    settings = {"model": session.model, "answers": answers, "tokens": tokens, "epochs": epochs, "nodes": NODES}
    finish([_table(learned, before, after)], figures, settings, file)
    verdict = "kept" if learned.better else "thrown away (not better by 1 %)"
    change = 100 * (after.accepted_length / before.accepted_length - 1)
    click.echo(f"The new heads would be {verdict}; on {len(further)} further questions: {change:+.1f} %.")
    return DONE


def _converse(session: Session, folder: Path, asked: Sequence[str], tokens: int) -> None:
    """As the app keeps it: every answer with its step trace."""
    from medusa_chat.chats import conversations
    from medusa_chat.chats.database import Database

    db = Database(folder / "chats.db")
    for question in countdown(asked, len(asked), "answers"):
        _answer(session, db, conversations.create(db), question, tokens)
    db.close()


def _answer(session: Session, db: Database, chat: int, question: str, tokens: int) -> None:
    from medusa_chat.chats import messages
    from medusa_chat.chats.columns import Columns
    from medusa_chat.chats.trace import TraceStep

    above = messages.add(db, chat, None, "user", question)
    answer = messages.add(db, chat, above, "assistant", "", "unfinished")
    prompt = session.prompt_ids([{"role": "user", "content": question}])
    steps = [
        TraceStep(((step.tree.token_ids[0], ""),), (-1,), (1.0,), ("root",), (0,), step.tokens, step.text, (0.0,) * 5)
        for step in session.start(prompt, Sampling(), Decoding(), Limits(max_tokens=tokens))
    ]
    messages.append_text(db, answer, "".join(step.text for step in steps))
    messages.finish(
        db, answer, "finished", {"model": session.model, "sampling": {"temperature": 0.0}}, {}, Columns(steps)
    )


def _decode(session: Session, asked: Sequence[str], tokens: int) -> Decoded:
    """Greedily, with heads alone, so that nothing but the heads decides the length."""
    total = steps = 0
    for question in countdown(asked, len(asked), "further answers"):
        prompt = session.prompt_ids([{"role": "user", "content": question}])
        decoding = Decoding("medusa", budget=NODES)
        for step in session.start(prompt, Sampling(), decoding, Limits(max_tokens=tokens)):
            total += len(step.tokens)
            steps += 1
    return Decoded(total, steps)


def _lesson(session: Session, folder: Path, epochs: float) -> Learned:
    """The session drafts with the new heads afterwards, kept or not: what they are worth is to be seen."""
    from medusa_chat import catalog
    from medusa_chat.chats.database import Database
    from medusa_chat.cli.learn import recipe
    from medusa_chat.engine.loading import load_backbone
    from medusa_chat.heads.store import load_heads, save_heads
    from medusa_chat.training.lessons import answered, learn, parted

    card = catalog.find(session.model)
    heads_folder = card.heads_folder()
    assert heads_folder is not None
    backbone, tokenizer = load_backbone(card.folder(), packed=False)
    db = Database(folder / "chats.db")
    split = parted(answered(db, session.model, tokenizer), backbone.context)
    db.close()
    heads = load_heads(heads_folder, backbone, frozen=False).heads
    learned = learn(
        backbone, heads, session.calibration, split, folder, recipe(epochs), NODES, lambda stage, done, of, note: None
    )
    save_heads(learned.heads, folder / "heads", backbone, card.name, {})
    session.heads = load_heads(folder / "heads", session.backbone).heads
    return learned


def _plain(learned: Learned) -> dict[str, Any]:
    names = ("answers", "held_out", "before", "after", "nodes", "better")
    return {name: getattr(learned, name) for name in names}


def _table(learned: Learned, before: Decoded, after: Decoded) -> Table:
    from medusa_chat.bench.table import figures_table, shown

    grid = figures_table("accepted tokens per step", "before", "after")
    grid.add_row(f"{learned.held_out} held-out answers, on paper", shown(learned.before, 3), shown(learned.after, 3))
    grid.add_row("10 further questions, decoded", shown(before.accepted_length, 3), shown(after.accepted_length, 3))
    return grid
