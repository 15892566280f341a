"""Where a prompt comes from: the command line or stdin."""

from __future__ import annotations

import sys

import click

from medusa_chat.engine.errors import MedusaError

prompt_argument = click.argument("prompt", required=False)


def messages_of(prompt: str | None, system: str | None) -> list[dict[str, str]]:
    """The conversation to answer, as role and content; without `prompt` (or with "-") stdin is read to its end.

    Raises:
        click.UsageError: there is neither a prompt nor anything piped in.
        MedusaError: the prompt is empty.
    """
    if prompt is None or prompt == "-":
        prompt = _piped()
    if not prompt.strip():
        raise MedusaError("The prompt is empty; there is nothing to answer.")
    head = [{"role": "system", "content": system}] if system else []
    return [*head, {"role": "user", "content": prompt}]


def _piped() -> str:
    if sys.stdin.isatty():
        raise click.UsageError('Give a prompt, as in medusa-chat run "Who are you?", or pipe one in.')
    return sys.stdin.buffer.read().decode("utf-8", errors="replace").removesuffix("\n")
