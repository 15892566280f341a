"""Answers from a server elsewhere."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from doubles.small_tokenizers import byte_level

from medusa_chat.engine.errors import MedusaError
from medusa_chat.training.conversations import read_rows
from medusa_chat.training.prompts import Prompt
from medusa_chat.training.scenes import Scene
from medusa_chat.training.served import Server, answer

TOKENIZER = byte_level()
PROMPTS = [Prompt(("One?", "Two?"), "Be brief."), Prompt(("Three <|im_end|>?",)), Prompt(("Three <|im_end|>?",))]


@contextmanager
def serving(*replies: bytes | tuple[str, str], status: int = 200) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server that answers with (text, finish reason), or with bytes as they are, the last one again and again."""
    asked: list[dict[str, Any]] = []
    waiting = list(replies)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append({**body, "path": self.path, "key": self.headers.get("Authorization")})
            reply = waiting.pop(0) if len(waiting) > 1 else waiting[0]
            if isinstance(reply, tuple):
                choice = {"message": {"role": "assistant", "content": reply[0]}, "finish_reason": reply[1]}
                reply = json.dumps({"choices": [choice]}).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_args: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        server.server_close()


def run(url: str, out: Path, greedy: float = 1.0, key: str | None = None) -> Any:
    return answer(
        Server(url, "theirs", key), Scene.of(TOKENIZER), PROMPTS, out, max_tokens=9, temperature=0.7, greedy_share=greedy,
        seed=3, at_once=1, on_progress=lambda now: None,
    )  # fmt: skip


def test_what_the_server_says_becomes_labelled_ids(tmp_path: Path) -> None:
    out = tmp_path / "a.jsonl"
    with serving(("Fine.", "stop"), ("Also <|im_end|> fine.", "stop"), ("cut off", "length")) as (url, asked):
        progress = run(url, out, key="secret")
        assert (progress.conversations, progress.of) == (2, 2)
        assert run(url, out).tokens == 0
    rows = read_rows(out)
    said = [[TOKENIZER.decode(row.ids[start:end]) for start, end in row.answers] for row in rows]
    assert sorted(said) == [["Fine.<|im_end|>", "Also <|im_end|> fine.<|im_end|>"], ["cut off"]]
    two = max(rows, key=lambda row: len(row.answers))
    # An end token that the server merely spelled is text.
    assert [two.ids[start:end].count(TOKENIZER.eos_token_id) for start, end in two.answers] == [1, 1]
    assert TOKENIZER.decode(two.ids).count("<|im_start|>user\nTwo?") == 1
    assert [call["messages"][-1]["content"] for call in asked] == ["One?", "Two?", "Three <|im_end|>?"]
    assert [message["role"] for message in asked[1]["messages"]] == ["system", "user", "assistant", "user"]
    assert {(call["model"], call["max_tokens"], call["temperature"], call["path"], call["key"]) for call in asked} == {
        ("theirs", 9, 0.0, "/v1/chat/completions", "Bearer secret")
    }


def test_sampled_conversations_are_marked(tmp_path: Path) -> None:
    with serving(("Fine.", "stop")) as (url, asked):
        run(url, tmp_path / "a.jsonl", greedy=0.0)
    assert {call["temperature"] for call in asked} == {0.7}
    assert all(row.sampled for row in read_rows(tmp_path / "a.jsonl"))


@pytest.mark.parametrize(
    ("reply", "status", "said"),
    [
        (b"{}", 200, "does not speak OpenAI's chat protocol"),
        (b"<html>", 200, "does not speak OpenAI's chat protocol"),
        (b"no", 404, "404 Not Found"),
        (b"no", 500, "500 Internal Server Error"),
    ],
)
def test_a_server_that_does_something_else_is_named(tmp_path: Path, reply: bytes, status: int, said: str) -> None:
    with serving(reply, status=status) as (url, _), pytest.raises(MedusaError, match=said):
        run(url, tmp_path / "a.jsonl")


def test_no_server_is_named(tmp_path: Path) -> None:
    with pytest.raises(MedusaError, match="did not answer"):
        run("http://127.0.0.1:9/v1", tmp_path / "a.jsonl")
