"""What a single token looks like in a tree."""

from __future__ import annotations

import gc
import weakref

import pytest
from doubles import small_tokenizers
from transformers import PreTrainedTokenizerFast

from medusa_chat.engine.text.token_text import piece


def only(tokenizer: PreTrainedTokenizerFast, name: str) -> str:
    token_id = tokenizer.convert_tokens_to_ids(name)
    assert tokenizer.convert_ids_to_tokens(token_id) == name
    return piece(tokenizer, token_id)


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b" the", " the"),
        (b"  ", "  "),
        (b"\n\n", "\\n\\n"),
        (b"\t\r\x1b[0m", "\\t\\r\\x1b[0m"),
        ("é日".encode(), "é日"),
        (b"\xe2", "<0xE2>"),
        (b" \xe6\x97", " <0xE6><0x97>"),
        (b"\x82\xac!", "<0x82><0xAC>!"),
        ("\u200d\u202e\u2028\xa0".encode(), "\\u200d\\u202e\\u2028\\xa0"),
        ("\ufffd".encode(), "\ufffd"),
        (b"[red]\\x", "[red]\\x"),
    ],
)
def test_byte_level_pieces(data: bytes, shown: str) -> None:
    assert piece(small_tokenizers.of_byte_strings([b"a", data]), 1) == shown


def test_visible_spaces_and_byte_tokens() -> None:
    tokenizer = small_tokenizers.byte_fallback()
    assert only(tokenizer, "▁fox") == " fox"
    assert only(tokenizer, "▁▁") == "  "
    assert only(tokenizer, "<0xE2>") == "<0xE2>"
    assert only(tokenizer, "<0x0A>") == "\\n"
    assert only(tokenizer, "<0x41>") == "A"
    assert only(small_tokenizers.metaspace(), "▁") == " "


@pytest.mark.parametrize(
    "build", [small_tokenizers.byte_level, small_tokenizers.byte_fallback, small_tokenizers.metaspace]
)
def test_every_token_of_a_vocabulary_has_one_printable_line(build) -> None:  # type: ignore[no-untyped-def]
    tokenizer = build()
    for token_id in range(len(tokenizer)):
        shown = piece(tokenizer, token_id)
        assert shown
        assert shown.isprintable()
    assert piece(tokenizer, tokenizer.eos_token_id) == "<|im_end|>"
    assert piece(tokenizer, len(tokenizer) + 7) == f"<token {len(tokenizer) + 7}>"


def test_a_token_named_like_a_byte_is_its_name_where_it_is_no_byte() -> None:
    tokenizer = small_tokenizers.of_byte_strings([b"a", b"<0x41>"])
    assert piece(tokenizer, 1) == "<0x41>"


def test_remembering_pieces_does_not_keep_a_tokenizer_alive() -> None:
    tokenizer = small_tokenizers.of_byte_strings([b"a", b"b"])
    assert piece(tokenizer, 1) == piece(tokenizer, 1) == "b"
    alive = weakref.ref(tokenizer)
    del tokenizer
    gc.collect()
    assert alive() is None
