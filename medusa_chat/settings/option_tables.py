"""Engine options as tables of a TOML file. TOML has no "nothing", so `auto` and `all` stand for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Generic, TypeVar

from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.options import Decoding, Limits, Sampling, as_dict

Options = TypeVar("Options", Decoding, Sampling, Limits)

NOTHING: Mapping[str, str] = {"budget": "auto", "heads": "all", "seed": "drawn"}
"""What None is called, by option."""


@dataclass(frozen=True, slots=True)
class Read(Generic[Options]):
    options: Options
    problems: tuple[str, ...]
    """One plain sentence for each key that is wrong and so was left out."""


def read_options(base: Options, table: Any, where: str) -> Read[Options]:
    """The options of `base`, but for those the table gives.

    Args:
        where: names the table in sentences, as "[decoding] of /home/me/presets.toml".
    """
    if not isinstance(table, Mapping):
        return Read(base, (f"{where} is no table.",))
    options, problems = base, []
    for key, value in table.items():
        changed = _with(options, key, value)
        if isinstance(changed, str):
            problems.append(f"In {where} {changed}")
        else:
            options = changed
    return Read(options, tuple(problems))


def table_of(options: Decoding | Sampling | Limits) -> dict[str, Any]:
    """Every option in TOML's own types."""
    return {name: _written(name, value) for name, value in as_dict(options).items()}


def _written(name: str, value: Any) -> Any:
    if value is None:
        return NOTHING[name]
    return list(value) if isinstance(value, tuple) else value


def _with(options: Options, key: str, value: Any) -> Options | str:
    """The options with one of them changed, or why that cannot be."""
    known = as_dict(type(options)())
    if key not in known:
        close = get_close_matches(key, known, n=1)
        hint = f"did you mean {close[0]}?" if close else f"it may hold {', '.join(known)}."
        return f"there is no {key}; {hint}"
    try:
        return replace(options, **{key: _typed(key, value, known[key])})
    except MedusaError as error:
        return str(error)


def _typed(key: str, value: Any, default: Any) -> Any:
    """The value where it has the type of its option's default; an option that may be None is a whole number."""
    if key in NOTHING and value == NOTHING[key]:
        return None
    if isinstance(default, str):
        fits, wanted = isinstance(value, str), "a word in quotes"
    elif isinstance(default, tuple):
        fits, wanted = isinstance(value, list) and all(isinstance(each, str) for each in value), "a list of texts"
        value = tuple(value) if fits else value
    elif isinstance(default, float):
        fits, wanted = isinstance(value, float | int) and not isinstance(value, bool), "a number"
        value = float(value) if fits else value
    else:
        fits, wanted = isinstance(value, int) and not isinstance(value, bool), "a whole number"
        wanted += f' or "{NOTHING[key]}"' if key in NOTHING else ""
    if not fits:
        raise MedusaError(f"{key} is {value!r}; it must be {wanted}.")
    return value
