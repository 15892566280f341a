"""The text of a single token, for trees and token lists."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from transformers import PreTrainedTokenizerBase

from medusa_chat.engine.text.detokenizer import BYTE_TOKEN, REPLACEMENT, has_byte_fallback, token_name

_pieces: WeakKeyDictionary[PreTrainedTokenizerBase, dict[int, str]] = WeakKeyDictionary()


def piece(tokenizer: PreTrainedTokenizerBase, token_id: int) -> str:
    """Showable text of one token, on one line and free of control characters; remembered per tokenizer.

    Spaces stay as they are; control, format and separator characters are escaped (`\\n`, `\\x1b`, `\\u200d`); special
    tokens go by their name, bytes that are no whole character by their value (`<0xE2>`), and rows of the vocabulary
    without a token by their id (`<token 49200>`).
    """
    pieces = _pieces.setdefault(tokenizer, {})
    if token_id not in pieces:
        pieces[token_id] = "".join(_showable(char) for char in _raw(tokenizer, token_id))
    return pieces[token_id]


def _raw(tokenizer: PreTrainedTokenizerBase, token_id: int) -> str:
    """The token's text, its broken bytes as lone surrogates (PEP 383)."""
    name = token_name(tokenizer, token_id)
    if name is None:
        return f"<token {token_id}>"
    byte = BYTE_TOKEN.fullmatch(name)
    if byte is not None and has_byte_fallback(tokenizer):
        return _from_bytes(bytes([int(byte[1], 16)]))
    # Behind another token, because a decoder may drop the space a text begins with.
    anchor = tokenizer.encode("a", add_special_tokens=False)
    text = _decode(tokenizer, [*anchor, token_id])[len(_decode(tokenizer, anchor)) :]
    if REPLACEMENT in text and all(char in _BYTE_OF for char in name):
        return _from_bytes(bytes(_BYTE_OF[char] for char in name))
    return text


def _decode(tokenizer: PreTrainedTokenizerBase, ids: list[int]) -> str:
    text = tokenizer.decode(ids, clean_up_tokenization_spaces=False)
    assert isinstance(text, str)
    return text


def _from_bytes(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _showable(char: str) -> str:
    if "\udc80" <= char <= "\udcff":
        return f"<0x{ord(char) - 0xDC00:02X}>"
    return char if char.isprintable() else char.encode("unicode_escape").decode("ascii")


def _byte_level_alphabet() -> dict[str, int]:
    """Characters that stand for bytes in byte-level BPE vocabularies (introduced with GPT-2).

    Printable Latin-1 bytes stand for themselves; the others take, in order, the characters from U+0100 on.
    """
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = (byte for byte in range(0x100) if byte not in printable)
    return {chr(byte): byte for byte in printable} | {chr(0x100 + place): byte for place, byte in enumerate(others)}


_BYTE_OF = _byte_level_alphabet()
