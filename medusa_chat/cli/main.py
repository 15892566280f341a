"""The command line: which commands there are, and what happens without one."""

from __future__ import annotations

import click

from medusa_chat import __version__
from medusa_chat.cli.lazy import LazyCommand, LazyGroup, debug_option

COMMANDS = {
    "run": LazyCommand("medusa_chat.cli.run:run", "Answer one prompt on stdout."),
    "compare": LazyCommand("medusa_chat.cli.compare:compare", "Answer one prompt with several decoders, side by side."),
    "bench": LazyCommand("medusa_chat.cli.bench:bench", "Measure decoders over a suite of questions."),
    "models": LazyCommand("medusa_chat.cli.models:models", "List, pull, describe and remove models."),
    "distill": LazyCommand("medusa_chat.cli.distill:distill", "Let a model answer prompts: data to train heads on."),
    "train": LazyCommand("medusa_chat.cli.train:train", "Train Medusa heads for a model."),
    "learn": LazyCommand("medusa_chat.cli.learn:learn", "Let heads learn from your own conversations, here."),
    "calibrate": LazyCommand("medusa_chat.cli.calibrate:calibrate", "Measure heads; find their best trees."),
    "doctor": LazyCommand("medusa_chat.cli.doctor:doctor", "Check machine, versions, model and heads, with advice."),
}


def _known_precision(_ctx: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    """The names are asked for only where one is given: `--help` imports as little as it can."""
    if value is not None:
        from medusa_chat.catalog.fits import PRECISIONS

        if value not in PRECISIONS:
            raise click.BadParameter(f"{value!r} is none of {', '.join(PRECISIONS)}.")
    return value


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    invoke_without_command=True,
    params=[debug_option()],
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Without a command the chat opens.",
)
@click.option("--model", metavar="NAME", help="Model card or folder to chat with, instead of the one chosen last.")
@click.option("--prompt", metavar="TEXT", help="Send this first.")
@click.option("--theme", metavar="NAME", help="Colours of the screen.")
@click.option("--preset", metavar="NAME", help="Settings to start with, by name.")
@click.option(
    "--quantize",
    metavar="NAME",
    callback=_known_precision,
    help="What the model's weights are kept in, instead of what was chosen last for this model; see run --help.",
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def cli(
    ctx: click.Context,
    model: str | None,
    prompt: str | None,
    theme: str | None,
    preset: str | None,
    quantize: str | None,
) -> None:
    """Chat with a language model on this machine and watch Medusa heads speed it up."""
    if ctx.invoked_subcommand is None:
        open_app(model, prompt, theme, preset, quantize)
        return
    for name, value in ctx.params.items():
        if value is not None:
            ctx.fail(f"--{name} before a command belongs to the chat alone; put it after {ctx.invoked_subcommand!r}.")


def open_app(
    model: str | None,
    prompt: str | None,
    theme: str | None,
    preset: str | None = None,
    quantize: str | None = None,
) -> None:
    """Opens the chat screen.

    Raises:
        MedusaError: stdin or stdout is no terminal, or there is no such preset.
    """
    from medusa_chat.settings.presets import all_presets
    from medusa_chat.tui.launch import launch

    start_with = None if preset is None else all_presets().find(preset)
    launch(model=model, prompt=prompt, theme=theme, preset=start_with, quantize=quantize)
