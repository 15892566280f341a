from __future__ import annotations

import pytest

from medusa_chat.engine.text.harmless import harmless


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[2J",
        "\x1b]8;;http://x\x07link\x1b]8;;\x07",
        "a\rb",
        "\x9b31m",
        "\x08\x08",
        "\x00",
        "\x7f",
        "\u202eabc\u2066",
    ],
)
def test_nothing_that_steers_a_terminal_is_left(text: str):
    shown = harmless(text)
    assert len(shown) == len(text.replace("\r", ""))
    assert not any(ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 for char in shown)
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def test_ordinary_text_stays_as_it_is():
    text = "Zeile\n\tnaïve 日本語 👩‍👩‍👧 שלום [bold]x[/bold]"
    assert harmless(text) == text


def test_pieces_are_cleaned_as_the_whole_is():
    text = "ab\x1b[31mrot\x1b[0m\r\n"
    assert "".join(harmless(char) for char in text) == harmless(text)
