"""A conversation to the token ids a model is to continue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from jinja2 import TemplateError
from transformers import PreTrainedTokenizerBase

from medusa_chat.engine.errors import MedusaError


def render(tokenizer: PreTrainedTokenizerBase, messages: Sequence[Mapping[str, str]]) -> list[int]:
    """Token ids of the conversation, up to the place where the model's answer begins.

    The tokenizer's own chat template is applied once and writes every control token, a BOS included; the tokenizer
    adds none. Text in messages that merely looks like a control token (`<|im_end|>`) stays text.

    Args:
        tokenizer: Of the model that will answer.
        messages: `role` ("system", "user" or "assistant") and `content`; the last one is the prompt.

    Raises:
        MedusaError: no chat template, no messages, the last one is empty or not from the user, or the template
            refuses the conversation.
    """
    _check_prompt(messages)
    template = _chat_template(tokenizer)
    try:
        ids = tokenizer.apply_chat_template(
            [dict(message) for message in messages],
            chat_template=template,
            add_generation_prompt=True,
            sanitize_control_tokens=True,
            return_dict=False,
        )
    except (TemplateError, ValueError) as error:
        raise MedusaError(_refusal(str(error), messages)) from error
    if not ids:
        raise MedusaError(f"The chat template of {_name(tokenizer)} yields no tokens; choose another model.")
    return list(ids)


def check_fits(prompt_tokens: int, context: int, max_tokens: int) -> int:
    """How many tokens the answer may have: `max_tokens`, or less where the context ends before.

    The answer's last token is never run through the model, so a prompt that fills the context still gets one token.

    Raises:
        MedusaError: the prompt is longer than the context.
    """
    if prompt_tokens > context:
        raise MedusaError(
            f"The conversation is {prompt_tokens:,} tokens long, but the model's context holds {context:,}; "
            "shorten the message, start a new conversation, or choose a model with a longer context."
        )
    return min(max_tokens, context - prompt_tokens + 1)


def _check_prompt(messages: Sequence[Mapping[str, str]]) -> None:
    if not messages:
        raise MedusaError("The conversation has no messages; type a prompt first.")
    last = messages[-1]
    if last["role"] != "user":
        raise MedusaError(
            f"The last of the conversation's {len(messages)} messages is from the {last['role']}, not from the user; "
            "end it with a prompt."
        )
    if not last["content"].strip():
        raise MedusaError("The prompt is empty; type at least one word.")


def _chat_template(tokenizer: PreTrainedTokenizerBase) -> str:
    try:
        return str(tokenizer.get_chat_template())
    except ValueError as error:
        raise MedusaError(
            f"{_name(tokenizer)} has no chat template, so it was not made for conversations; "
            "choose a chat or instruct model."
        ) from error


def _refusal(reason: str, messages: Sequence[Mapping[str, str]]) -> str:
    """One plain sentence for what a chat template raised; such a text comes from the model's files, so it is cleaned."""
    roles = [message["role"] for message in messages]
    if "alternat" in reason:
        return (
            f"This model wants user and assistant to take turns, but the {len(roles)} messages come from "
            f"{', '.join(roles)}; remove or regenerate a message so that they do."
        )
    if "system" in roles and "system" in reason.lower():
        return "This model takes no system message; remove the system prompt or choose another model."
    plain = " ".join("".join(char if char.isprintable() else " " for char in reason).split())
    return f"The model's chat template refuses this conversation: {plain.rstrip('.') or 'no reason given'}."


def _name(tokenizer: PreTrainedTokenizerBase) -> str:
    return Path(str(tokenizer.name_or_path)).name or "The model"
