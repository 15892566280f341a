"""`--preset NAME`: named settings in place of the flags' own defaults; a flag that is given still wins."""

from __future__ import annotations

import click

from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.options import as_dict
from medusa_chat.settings.presets import all_presets


def _take(ctx: click.Context, _option: click.Parameter, name: str | None) -> None:
    """
    Raises:
        click.UsageError: there is no such preset, or it is one of the person's own and wrong.
    """
    if name is None:
        return
    try:
        preset = all_presets().find(name)
    except MedusaError as error:
        raise click.UsageError(str(error)) from error
    drafting = {_flag(key): value for key, value in as_dict(preset.decoding).items()}
    ctx.default_map = {**(ctx.default_map or {}), **drafting, **as_dict(preset.sampling)}


def _flag(key: str) -> str:
    """Which flag's value this is: `top_k` alone is that of the sampling."""
    return "top_k_per_head" if key == "top_k" else key


preset_option = click.option(
    "--preset",
    metavar="NAME",
    is_eager=True,
    expose_value=False,
    callback=_take,
    help="Settings by name: exact, creative, conservative, balanced, standard, aggressive or one of your own; "
    "other flags change single ones.",
)
