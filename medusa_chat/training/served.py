"""Answers from a model that is served elsewhere, by a server that speaks OpenAI's chat protocol.

Such a server gives text, not token ids: the ids are made by the tokenizer of the same model here, and may be cut
differently than the server's in rare places.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from medusa_chat.engine.errors import MedusaError
from medusa_chat.training.conversations import Conversation, Span
from medusa_chat.training.distill import Progress, whole_rows
from medusa_chat.training.prompts import Prompt
from medusa_chat.training.scenes import Scene

SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Server:
    """Where it is and what it calls the model."""

    url: str
    """As in http://localhost:8000/v1."""
    model: str
    key: str | None = None

    def ask(
        self, messages: Sequence[dict[str, str]], max_tokens: int, temperature: float, seed: int
    ) -> tuple[str, bool]:
        """The answer, and whether the model ended it itself.

        Raises:
            MedusaError: the server cannot be reached, refuses, or answers something else.
        """
        body: dict[str, Any] = {
            "model": self.model,
            "messages": list(messages),
            "max_tokens": max_tokens,
            "temperature": temperature,
            "seed": seed % 2**31,
        }
        headers = {} if self.key is None else {"Authorization": f"Bearer {self.key}"}
        try:
            reply = requests.post(
                f"{self.url.rstrip('/')}/chat/completions", json=body, headers=headers, timeout=SECONDS
            )
            reply.raise_for_status()
        except requests.RequestException as error:
            raise MedusaError(
                f"{self.url} did not answer ({_reason(error)}): is the server up, and the model's name right?"
            ) from error
        try:
            choice = reply.json()["choices"][0]
            return str(choice["message"]["content"] or ""), choice.get("finish_reason") == "stop"
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise MedusaError(
                f"{self.url} does not speak OpenAI's chat protocol: give the address that ends in /v1."
            ) from error


def answer(
    server: Server,
    scene: Scene,
    prompts: Sequence[Prompt],
    out: Path,
    *,
    max_tokens: int,
    temperature: float,
    greedy_share: float,
    seed: int,
    at_once: int,
    on_progress: Callable[[Progress], None],
) -> Progress:
    """Append the server's answers to prompts to `out`; prompts answered there already are passed over.

    Raises:
        MedusaError: see `Server.ask`; what was answered before is written.
    """
    known = {row.opening for row in whole_rows(out)}
    openings = {scene.begin(prompt.turns[0], prompt.system): prompt for prompt in prompts}
    todo = [prompt for ids, prompt in openings.items() if ids not in known]
    done, tokens = len(openings) - len(todo), 0

    def hold(prompt: Prompt) -> Conversation:
        greedy = random.Random(f"{seed}:{prompt.turns[0]}").random() < greedy_share
        return _hold(server, scene, prompt, max_tokens, 0.0 if greedy else temperature, seed)

    with out.open("a", encoding="utf-8") as file, ThreadPoolExecutor(at_once) as pool:
        held = [pool.submit(hold, prompt) for prompt in todo]
        try:
            for future in as_completed(held):
                conversation = future.result()
                file.write(conversation.to_json() + "\n")
                file.flush()
                done, tokens = done + 1, tokens + conversation.answer_tokens
                on_progress(Progress(done, len(openings), tokens))
        finally:
            for future in held:
                future.cancel()
    return Progress(done, len(openings), tokens)


def _hold(server: Server, scene: Scene, prompt: Prompt, max_tokens: int, temperature: float, seed: int) -> Conversation:
    messages = [{"role": "system", "content": prompt.system}] if prompt.system else []
    ids: list[int] = []
    spans: list[Span] = []
    end = scene.gap[:1]
    for turn in prompt.turns:
        messages.append({"role": "user", "content": turn})
        if spans:
            ids = [*scene.behind(ids), *scene.spoken(turn), *scene.closing]
        else:
            ids = [*scene.begin(turn, prompt.system)]
        text, ended = server.ask(messages, max_tokens, temperature, seed)
        said = [*scene.spoken(text), *(end if ended else ())]
        if said:
            spans.append((len(ids), len(ids) + len(said)))
            ids += said
        if not ended or not text:
            break
        messages.append({"role": "assistant", "content": text})
    return Conversation(tuple(ids), tuple(spans), sampled=temperature > 0)


def _reason(error: requests.RequestException) -> str:
    if error.response is not None:
        return f"{error.response.status_code} {error.response.reason}"
    return type(error).__name__
