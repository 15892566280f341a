"""`medusa-chat distill`: a model answers prompts, given ones or its own, and that becomes training data for its heads."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from medusa_chat.catalog import DEFAULT_MODEL
from medusa_chat.cli.exit_codes import DONE
from medusa_chat.cli.stage_progress import Report, stage_progress
from medusa_chat.engine.errors import MedusaError

if TYPE_CHECKING:
    from medusa_chat.training.distill import Progress
    from medusa_chat.training.prompts import Prompt

low_precision_option = click.option(
    "--low-precision", is_flag=True, help="Multiply in bfloat16: several times faster on CPUs that can."
)


@click.command
@click.option("--model", default=DEFAULT_MODEL, show_default=True, help="Model card, or a folder with a model.")
@click.option(
    "--prompts",
    type=click.Path(path_type=Path),
    help="Text (one prompt a line), JSON or JSONL: prompt, turns, messages, ShareGPT or Alpaca rows.  "
    "[default: the model asks itself]",
)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="JSONL to write; goes on where it ends.")
@click.option("--limit", type=click.IntRange(min=1), help="Conversations at most; of its own asking, how many.")
@click.option("--turns", type=click.IntRange(min=1), default=1, show_default=True, help="Of its own asking, at most.")
@click.option("--max-tokens", type=click.IntRange(min=1), default=220, show_default=True, help="Of each answer.")
@click.option("--batch", type=click.IntRange(min=1), default=32, show_default=True, help="Answered together.")
@click.option("--temperature", type=click.FloatRange(min=0, min_open=True), default=0.7, show_default=True)
@click.option(
    "--greedy-share",
    type=click.FloatRange(0, 1),
    default=0.5,
    show_default=True,
    help="Share of the conversations answered greedily; the rest is sampled.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option(
    "--server", help="Address of an OpenAI-compatible server that answers instead, as http://localhost:8000/v1."
)
@click.option("--server-model", help="What that server calls the model.  [default: the card's name]")
@click.option("--server-key", envvar="OPENAI_API_KEY", help="Key for that server.  [env: OPENAI_API_KEY]")
@low_precision_option
def distill(model: str, prompts: Path | None, out: Path, **flags: Any) -> int:
    """Let the model converse and write exact token ids; prompts already answered in OUT are passed over.

    Without --prompts the model writes the person's turns too, from its chat template's opening. An interrupted run goes
    on with the same command.
    """
    from medusa_chat.training.prompts import read_prompts

    if prompts is None and (flags["limit"] is None or flags["server"]):
        raise MedusaError(
            "A server answers given prompts alone: add --prompts."
            if flags["server"]
            else "Without --prompts the model asks itself: say with --limit how many conversations."
        )
    asked = None if prompts is None else read_prompts(prompts)[: flags["limit"]]
    with stage_progress(sys.stderr) as report:
        if flags["server"] and asked:
            progress, left_out = _serve(model, asked, out, flags, report), Counter[str]()
        else:
            progress, left_out = _make(model, asked, out, flags, report)
    _tell(progress, left_out, out)
    return DONE


def _make(
    model: str, asked: Sequence[Prompt] | None, out: Path, flags: dict[str, Any], report: Report
) -> tuple[Progress, Counter[str]]:
    from medusa_chat import catalog
    from medusa_chat.engine.loading import load_backbone
    from medusa_chat.training.distill import Distiller
    from medusa_chat.training.scenes import Scene
    from medusa_chat.training.talks import Terms

    backbone, tokenizer = load_backbone(catalog.find(model).folder(), packed=False)
    if flags["low_precision"]:
        backbone.model.bfloat16()
    limit, heat = flags["max_tokens"], flags["temperature"]
    terms = Terms(Scene.of(tokenizer), backbone.eos_ids, backbone.context, limit, heat)
    maker = Distiller(terms, out, greedy_share=flags["greedy_share"], seed=flags["seed"], on_progress=_told(report))
    if asked is None:
        progress = maker.invent(backbone.model, flags["limit"], flags["turns"], flags["batch"])
    else:
        progress = maker.answer(backbone.model, asked, flags["batch"])
    left_out = Counter(maker.questions.left_out)
    if maker.left_out:
        left_out["prompt too long for the context"] = maker.left_out
    return progress, left_out


def _serve(model: str, asked: Sequence[Prompt], out: Path, flags: dict[str, Any], report: Report) -> Progress:
    from transformers import AutoTokenizer

    from medusa_chat import catalog
    from medusa_chat.training.scenes import Scene
    from medusa_chat.training.served import Server, answer

    card = catalog.find(model)
    tokenizer = AutoTokenizer.from_pretrained(card.folder())
    server = Server(flags["server"], flags["server_model"] or card.name, flags["server_key"])
    return answer(
        server,
        Scene.of(tokenizer),
        asked,
        out,
        max_tokens=flags["max_tokens"],
        temperature=flags["temperature"],
        greedy_share=flags["greedy_share"],
        seed=flags["seed"],
        at_once=flags["batch"],
        on_progress=_told(report),
    )


def _told(report: Report) -> Any:
    began = monotonic()

    def told(now: Progress) -> None:
        rate = now.tokens / max(monotonic() - began, 1e-9)
        report("conversations", now.conversations, now.of, f"{now.tokens:,} tokens in this run, {rate:,.0f} tokens/s")

    return told


def _tell(progress: Progress, left_out: Counter[str], out: Path) -> None:
    from medusa_chat.training.conversations import read_all

    click.echo(f"{out}: {progress.conversations:,} of {progress.of:,} conversations.", err=True)
    for reason, count in left_out.most_common():
        click.echo(f"left out: {count:,} ({reason}).", err=True)
    if progress.conversations:
        data = read_all([out])
        answers = sum(len(one.answers) for one in data.conversations)
        greedy = sum(not one.sampled for one in data.conversations)
        click.echo(
            f"{data.answer_tokens:,} answer tokens in {answers:,} answers, {data.answer_tokens / answers:.0f} each; "
            f"{greedy:,} conversations greedy, {len(data.conversations) - greedy:,} sampled.",
            err=True,
        )
