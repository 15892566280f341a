"""The flags that commands share, and the checked values they turn into."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from medusa_chat.catalog import DEFAULT_MODEL
from medusa_chat.catalog.fits import PRECISIONS
from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.options import DECODERS, LOSSY_RULES, RULES, TREE_KINDS, Decoding, Limits, Sampling

_Command = TypeVar("_Command", bound=Callable[..., Any])
_Value = TypeVar("_Value", Sampling, Decoding, Limits)
_Flags = dict[str, Any]

_SAMPLING, _DECODING, _LIMITS = Sampling(), Decoding(), Limits()
_RULES_HELP = ", ".join(f"{rule} (lossy)" if rule in LOSSY_RULES else rule for rule in RULES)


def _stack(*options: Callable[[_Command], _Command]) -> Callable[[_Command], _Command]:
    """One decorator for several, shown in this order in the help."""

    def decorate(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


model_options = _stack(
    click.option("--model", default=DEFAULT_MODEL, show_default=True, help="Model card, or a folder with a model."),
    click.option(
        "--quantize",
        type=click.Choice(PRECISIONS),
        default="auto",
        show_default=True,
        help="How the backbone's weights are kept: auto, the fastest that does not change its words noticeably; none, "
        "unchanged; fp16, int8, int4 on a processor; nf4, 4 bits on a graphics card.",
    ),
)

decoder_option = click.option(
    "--decoder",
    type=click.Choice(DECODERS),
    help="What drafts ahead: nothing, heads, prompt lookup, recycled tokens, or all three in one tree.  [default: joint]",
)


def decoders_option(default: str) -> Callable[[_Command], _Command]:
    """`--decoders a,b,c`, given to the command as a tuple of names."""
    return click.option(
        "--decoders",
        default=default,
        show_default=True,
        metavar="A,B,...",
        callback=_split_decoders,
        help=f"Which to run, of {', '.join(DECODERS)}.",
    )


def _split_decoders(_ctx: click.Context, _option: click.Parameter, value: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in value.split(",") if name.strip()))
    unknown = [name for name in names if name not in DECODERS]
    if unknown or not names:
        raise click.BadParameter(f"{', '.join(unknown) or 'nothing'} is none of {', '.join(DECODERS)}.")
    return names


tree_options = _stack(
    click.option("--budget", type=int, help="Nodes of the candidate tree, root included.  [default: as many as pay]"),
    click.option("--heads", type=int, help="How many heads draft.  [default: all]"),
    click.option(
        "--top-k-per-head", type=int, default=_DECODING.top_k, show_default=True, help="Candidates taken of each head."
    ),
    click.option(
        "--tree",
        type=click.Choice(TREE_KINDS),
        default=_DECODING.tree,
        show_default=True,
        help="How medusa combines its heads' guesses; other decoders' trees are always dynamic.",
    ),
)

rule_options = _stack(
    click.option(
        "--rule",
        type=click.Choice(RULES),
        default=_DECODING.rule,
        show_default=True,
        help=f"Which guesses are kept: {_RULES_HELP}; above temperature 0 a lossy rule changes what the model says.",
    ),
    click.option(
        "--epsilon",
        type=float,
        default=_DECODING.epsilon,
        show_default=True,
        help="typical (lossy): probability that is always enough.",
    ),
    click.option(
        "--delta",
        type=float,
        default=_DECODING.delta,
        show_default=True,
        help="typical (lossy): factor of exp(-entropy).",
    ),
    click.option(
        "--threshold",
        type=float,
        default=_DECODING.threshold,
        show_default=True,
        help="threshold (lossy): probability that is enough.",
    ),
)

sampling_options = _stack(
    click.option(
        "--temperature", type=float, default=_SAMPLING.temperature, show_default=True, help="0 takes the likeliest."
    ),
    click.option("--top-k", type=int, default=_SAMPLING.top_k, show_default=True, help="Draw among the k likeliest."),
    click.option(
        "--top-p", type=float, default=_SAMPLING.top_p, show_default=True, help="Draw among this much probability."
    ),
    click.option(
        "--min-p", type=float, default=_SAMPLING.min_p, show_default=True, help="Least share of the likeliest's."
    ),
    click.option(
        "--repetition-penalty",
        type=float,
        default=_SAMPLING.repetition_penalty,
        show_default=True,
        help="Above 1 avoids tokens that were there before.",
    ),
    click.option("--seed", type=int, help="Makes a run repeatable.  [default: drawn]"),
)

stop_option = click.option("--stop", multiple=True, metavar="TEXT", help="End the answer before TEXT; repeatable.")


def max_tokens_option(default: int) -> Callable[[_Command], _Command]:
    return click.option("--max-tokens", type=int, default=default, show_default=True, help="Longest answer, in tokens.")


limit_options = _stack(max_tokens_option(_LIMITS.max_tokens), stop_option)
system_option = click.option("--system", metavar="TEXT", help="What the model is told before the prompt.")
json_flag = click.option("--json", "as_json", is_flag=True, help="One JSON object per line on stdout, nothing else.")


def sampling_of(flags: _Flags) -> Sampling:
    """Of a command's keyword arguments.

    Raises:
        click.UsageError: a value is out of its range.
    """
    names = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty", "seed")
    return _checked(Sampling, {name: flags[name] for name in names})


def decoding_of(flags: _Flags, decoder: str) -> Decoding:
    """Of a command's keyword arguments; a command without rule options gets the default rule.

    Raises:
        click.UsageError: a value is out of its range.
    """
    names = ("budget", "heads", "tree", "rule", "epsilon", "delta", "threshold")
    values = {name: flags[name] for name in names if name in flags}
    return _checked(Decoding, {**values, "decoder": decoder, "top_k": flags["top_k_per_head"]})


def limits_of(flags: _Flags) -> Limits:
    """Of a command's keyword arguments.

    Raises:
        click.UsageError: a value is out of its range.
    """
    return _checked(Limits, {"max_tokens": flags["max_tokens"], "stop": tuple(flags.get("stop", ()))})


def _checked(kind: Callable[..., _Value], values: _Flags) -> _Value:
    try:
        return kind(**values)
    except MedusaError as error:
        raise click.UsageError(str(error)) from error
