"""A click group that knows its commands by name and imports a command's module only when it is needed."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import click


@dataclass(frozen=True, slots=True)
class LazyCommand:
    """Where a command lives and the line that stands for it in the group's help."""

    target: str
    """"package.module:attribute"."""
    help: str

    def load(self) -> click.Command:
        """The command, which also takes `--debug`."""
        module, _, attribute = self.target.partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        if all(option.name != "debug" for option in command.params):
            command.params.append(debug_option())
        return command


class LazyGroup(click.Group):
    """Lists and suggests commands from a table; loads one only to run it or to show its own help."""

    def __init__(self, *args: Any, table: Mapping[str, LazyCommand], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = self.table.get(cmd_name)
        return None if entry is None else entry.load()

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in self.table.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in self.table and not name.startswith("-") and not ctx.resilient_parsing:
            ctx.fail(self._unknown(ctx, name))
        return super().resolve_command(ctx, args)

    def _unknown(self, ctx: click.Context, name: str) -> str:
        close = difflib.get_close_matches(name, self.table, n=1, cutoff=0.6)
        hint = f"Did you mean {close[0]!r}?" if close else f'To ask a question: {ctx.command_path} run "..."'
        return f"No such command {name!r}. {hint}"


class LazyParent(click.Command):
    """A command that hands over to one of a table when its first argument is that one's name."""

    def __init__(self, *args: Any, table: Mapping[str, LazyCommand], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.table = table

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        entry = self.table.get(args[0]) if args else None
        if entry is None:
            return super().make_context(info_name, args, parent, **extra)
        return entry.load().make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(ctx, formatter)
        with formatter.section(f"Commands, each with a --help of its own, as {ctx.command_path} NAME"):
            formatter.write_dl([(name, entry.help) for name, entry in self.table.items()])


@dataclass(slots=True)
class Context:
    """What the group hands to the outermost error handler."""

    debug: bool = False


def debug_option() -> click.Option:
    """`--debug`, accepted before and after the command's name."""
    return click.Option(
        ["--debug"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_set_debug,
        help="Show the traceback when something goes wrong.",
    )


def _set_debug(ctx: click.Context, _option: click.Parameter, value: bool) -> None:
    if value:
        ctx.ensure_object(Context).debug = True
