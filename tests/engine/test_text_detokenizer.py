"""Pieces of text join to what the tokenizer says about the whole, and no piece is wrong on its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pytest
from doubles import small_tokenizers
from hypothesis import example, given, settings
from hypothesis import strategies as st
from transformers import PreTrainedTokenizerFast

from medusa_chat.engine.options import Limits
from medusa_chat.engine.text.detokenizer import Detokenizer
from medusa_chat.engine.text.ending import Ending

Build = Callable[[], PreTrainedTokenizerFast]
KINDS: list[Build] = [
    small_tokenizers.byte_level,
    small_tokenizers.byte_fallback,
    small_tokenizers.metaspace,
    small_tokenizers.word_end,
]
FAMILY = "👩‍👩‍👧"
SAMPLES = [
    FAMILY,
    f"a {FAMILY} b{FAMILY}",
    "日本語のテキスト 中文,한국어",
    "e\u0301 a\u0308\u0323 नमस्ते",
    "  leading,  double   triple \n\n\ttab ",
    " a",
    "a b",
    "👍🏽🇫🇷\U0001f9d1\u200d\U0001f680!",
    "a real \ufffd here \ufffd",
    "",
]


def whole(tokenizer: PreTrainedTokenizerFast, ids: Sequence[int]) -> str:
    return tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False)


def stream(tokenizer: PreTrainedTokenizerFast, ids: Sequence[int]) -> list[str]:
    detokenizer = Detokenizer(tokenizer)
    return [*(detokenizer.push(token) for token in ids), detokenizer.flush()]


@pytest.mark.parametrize("build", KINDS)
@pytest.mark.parametrize("text", SAMPLES)
def test_pieces_join_to_the_whole(build: Build, text: str) -> None:
    tokenizer = build()
    for ids in (tokenizer.encode(text), tokenizer.encode(text, add_special_tokens=False)):
        assert "".join(stream(tokenizer, ids)) == whole(tokenizer, ids)


@pytest.mark.parametrize("build", KINDS)
@settings(max_examples=150)
@given(text=st.text(st.one_of(st.characters(codec="utf-8"), st.sampled_from(" ab\n\t")), max_size=20))
@example(text=FAMILY)
def test_pieces_of_any_text_join_to_the_whole(build: Build, text: str) -> None:
    tokenizer = build()
    ids = tokenizer.encode(text, add_special_tokens=False)
    assert "".join(stream(tokenizer, ids)) == whole(tokenizer, ids)


@pytest.mark.parametrize("build", [small_tokenizers.byte_level, small_tokenizers.metaspace, small_tokenizers.word_end])
@settings(max_examples=300)
@given(data=st.data())
def test_pieces_of_random_tokens_join_to_the_whole(build: Build, data: st.DataObject) -> None:
    """Most random byte-level tokens are broken UTF-8; special tokens and ids beyond the vocabulary are among them."""
    tokenizer = build()
    ids = data.draw(st.lists(st.integers(0, len(tokenizer) + 2), max_size=40))
    assert "".join(stream(tokenizer, ids)) == whole(tokenizer, ids)


BYTES = st.sampled_from([0x20, 0x41, 0x80, 0xA9, 0xC3, 0xE2, 0x82, 0xAC, 0xF0, 0x9F, 0x98, 0x80, 0xED, 0xA0, 0xFF])


@settings(max_examples=500)
@given(pieces=st.lists(st.lists(BYTES, min_size=1, max_size=3).map(bytes), unique=True, min_size=1), data=st.data())
def test_broken_bytes_become_replacement_characters_as_in_the_whole(pieces: list[bytes], data: st.DataObject) -> None:
    tokenizer = small_tokenizers.of_byte_strings(pieces)
    ids = data.draw(st.lists(st.integers(0, len(pieces) - 1), max_size=30))
    assert "".join(stream(tokenizer, ids)) == b"".join(pieces[token] for token in ids).decode("utf-8", "replace")


@pytest.mark.parametrize("text", [FAMILY, "日本語", "e\u0301 é", " ñ 😀 "])
def test_every_split_shows_whole_characters_as_soon_as_they_are_complete(text: str) -> None:
    data = text.encode()
    spans = [(start, end) for start in range(len(data)) for end in range(start + 1, len(data) + 1)]
    pieces = sorted({data[start:end] for start, end in spans})
    tokenizer = small_tokenizers.of_byte_strings(pieces)
    for first, second in spans:
        ids = [pieces.index(part) for part in (data[:first], data[first:second], data[second:]) if part]
        detokenizer = Detokenizer(tokenizer)
        shown, read = "", b""
        for token in ids:
            shown += detokenizer.push(token)
            read += pieces[token]
            assert shown == read.decode("utf-8", "ignore")
        assert detokenizer.flush() == ""


def byte_run_text(run: list[int]) -> str:
    """Whole characters stay; every byte that is part of none becomes one U+FFFD."""
    text = bytes(run).decode("utf-8", "surrogateescape")
    return re.sub("[\udc80-\udcff]", "\ufffd", text)


@settings(max_examples=400)
@given(
    parts=st.lists(
        st.one_of(st.sampled_from(["▁the", "▁▁", "e", "é", "▁"]), st.lists(BYTES, min_size=1, max_size=6)),
        max_size=12,
    )
)
def test_byte_tokens(parts: list[str | list[int]]) -> None:
    tokenizer = small_tokenizers.byte_fallback()
    ids: list[int] = []
    expected = ""
    run: list[int] = []
    for part in [*parts, "▁the"]:
        if isinstance(part, list):
            run += part
            ids += [tokenizer.convert_tokens_to_ids(f"<0x{byte:02X}>") for byte in part]
            continue
        expected += byte_run_text(run)
        run = []
        ids.append(tokenizer.convert_tokens_to_ids(part))
        expected += part.replace("▁", " ")
    # The decoder drops one space at the very start of a text.
    assert "".join(stream(tokenizer, ids)) == expected.removeprefix(" ")


def test_a_byte_token_run_equals_the_whole_unless_it_mixes_whole_and_broken_characters() -> None:
    tokenizer = small_tokenizers.byte_fallback()

    def ids(*values: int) -> list[int]:
        return [tokenizer.convert_tokens_to_ids(f"<0x{value:02X}>") for value in values]

    for values in ([0x20, 0x41], [0x0A], [0xF0, 0x9F, 0x98, 0x80], [0xF0, 0x9F, 0x98], [0x80, 0xFF]):
        assert "".join(stream(tokenizer, ids(*values))) == whole(tokenizer, ids(*values))
    assert stream(tokenizer, ids(0xC3, 0xA9, 0xE2, 0x82)) == ["", "é", "", "", "\ufffd\ufffd"]
    assert stream(tokenizer, ids(0x0A)) == ["\n", ""]


def test_no_replacement_character_while_a_character_is_incomplete() -> None:
    tokenizer = small_tokenizers.of_byte_strings([b"a\xf0", b"\x9f", b"\x98", b"\x80b", b"\xe2\x82"])
    assert stream(tokenizer, [0, 1, 2, 3]) == ["a", "", "", "😀b", ""]
    assert stream(tokenizer, [0, 1, 2]) == ["a", "", "", "\ufffd"]
    assert stream(tokenizer, [4, 0]) == ["", "\ufffda", "\ufffd"]


@pytest.mark.parametrize("broken", range(20))
def test_a_character_behind_any_number_of_broken_bytes_is_whole(broken: int) -> None:
    pieces = [b"\x80", b"\xf0", b"\x9f", b"\x98"]
    ids = [0] * broken + [1, 2, 3, 0]
    assert "".join(stream(small_tokenizers.of_byte_strings(pieces), ids)) == "\ufffd" * broken + "😀"


def test_a_replacement_character_of_the_vocabulary_before_a_byte_token_is_kept() -> None:
    tokenizer = small_tokenizers.byte_fallback()
    ids = tokenizer.convert_tokens_to_ids(["e", "\ufffd", "<0x41>", "\ufffd"])
    assert "".join(stream(tokenizer, ids)) == "e\ufffdA\ufffd"


def test_special_tokens_are_not_shown_and_do_not_part_a_character() -> None:
    tokenizer = small_tokenizers.byte_level()
    accent = tokenizer.encode("Ω", add_special_tokens=False)
    bytes_of_euro = tokenizer.encode("€", add_special_tokens=False)
    end = tokenizer.eos_token_id
    ids = [end, *accent, end, bytes_of_euro[0], end, *bytes_of_euro[1:]]
    assert len(bytes_of_euro) > 1
    assert "".join(stream(tokenizer, ids)) == "Ω€"


class Counting:
    """A tokenizer that remembers how many ids each decode was given."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast) -> None:
        self._tokenizer = tokenizer
        self.sizes: list[int] = []

    def __getattr__(self, name: str) -> object:
        return getattr(self._tokenizer, name)

    def decode(self, ids: list[int], **options: bool) -> str:
        self.sizes.append(len(ids))
        return self._tokenizer.decode(ids, **options)


@pytest.mark.parametrize("piece", [b"word ", b"\x80", b"\xe2\x82", b"\xf0", "\ufffd".encode()])
def test_work_per_token_does_not_grow_with_the_answer(piece: bytes) -> None:
    tokenizer = Counting(small_tokenizers.of_byte_strings([piece]))
    pieces = stream(tokenizer, [0] * 300)  # type: ignore[arg-type]
    assert "".join(pieces) == (piece * 300).decode("utf-8", "replace")
    assert max(tokenizer.sizes) < 10
    assert len(tokenizer.sizes) < 3 * 300


@pytest.mark.parametrize("build", [small_tokenizers.byte_level, small_tokenizers.byte_fallback])
@settings(max_examples=200)
@given(data=st.data())
def test_stop_strings_agree_with_searching_the_decoded_text(build: Build, data: st.DataObject) -> None:
    tokenizer = build()
    letters = st.sampled_from(["a", " ", "b", "é", "日", FAMILY, "\n", "the", " the"])
    text = "".join(data.draw(st.lists(letters, max_size=15)))
    stops = tuple(
        "".join(parts) for parts in data.draw(st.lists(st.lists(letters, min_size=1, max_size=3), max_size=3))
    )
    ids = tokenizer.encode(text, add_special_tokens=False)
    ending = Ending(Limits(max_tokens=1000, stop=stops), frozenset({tokenizer.eos_token_id}), Detokenizer(tokenizer))

    tokens: list[int] = []
    shown = ""
    finish = None
    rest = [*ids, tokenizer.eos_token_id]
    while finish is None:
        size = data.draw(st.integers(1, len(rest)))
        taken = ending.take(rest[:size])
        tokens += taken.tokens
        shown += taken.text
        finish, rest = taken.finish, rest[size:]

    full = whole(tokenizer, ids)
    ends = [full.index(stop) for stop in stops if stop in full]
    if not ends:
        assert (tokens, shown, finish) == ([*ids, tokenizer.eos_token_id], full, "eos")
        return
    assert finish == "stop"
    completed = next(n for n in range(len(ids) + 1) if any(stop in clean(tokenizer, ids[:n]) for stop in stops))
    assert len(tokens) == completed
    text_then = clean(tokenizer, ids[:completed])
    assert shown == text_then[: min(text_then.index(stop) for stop in stops if stop in text_then)]


def clean(tokenizer: PreTrainedTokenizerFast, ids: Sequence[int]) -> str:
    """Text of the whole characters only: the tokens' bytes are cut where the last character is unfinished."""
    if tokenizer is small_tokenizers.byte_level():
        return whole(tokenizer, ids).removesuffix("\ufffd")
    keep = len(ids)
    while keep and "\ufffd" in whole(tokenizer, ids[:keep]):
        keep -= 1
    return whole(tokenizer, ids[:keep])
