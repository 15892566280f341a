"""Token ids to text, one token at a time, without half characters and without lost spaces."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence

from transformers import PreTrainedTokenizerBase

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")

# An unfinished UTF-8 character has at most 3 bytes, so at most 3 tokens; one more gives them something to follow.
_UNFINISHED_TOKENS = 4


class Detokenizer:
    """The text of one answer, grown token by token.

    The pieces, `flush` included, join to `tokenizer.decode(ids, skip_special_tokens=True,
    clean_up_tokenization_spaces=False)`. One deliberate difference: where a run of SentencePiece byte tokens mixes whole
    and broken characters, `decode` gives up the whole run, while here the whole characters, already shown, stay.

    A decoder may treat the first token of a text differently (it often drops a leading space), so a token is never
    decoded alone: each piece is what the token adds behind the few tokens before it. Its cost is that of decoding
    those, however long the answer is.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        self._tokenizer = tokenizer
        self._special = special_ids(tokenizer)
        self._byte_fallback = has_byte_fallback(tokenizer)
        self._utf8 = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._window: list[int] = []
        self._shown = 0

    def push(self, token_id: int) -> str:
        """Add the next token and return the text that became showable ("" for special tokens and half characters)."""
        name = None if token_id in self._special else token_name(self._tokenizer, token_id)
        if name is None:
            return ""
        match = BYTE_TOKEN.fullmatch(name) if self._byte_fallback else None
        if match is not None:
            return self._push_byte(token_id, int(match[1], 16))
        return self._end_bytes() + self._push_token(token_id)

    def flush(self) -> str:
        """Return what is still held: the bytes of a character that was never finished, as U+FFFD."""
        return self._end_bytes() + self._end_window()

    def _push_token(self, token_id: int) -> str:
        self._window.append(token_id)
        text = self._decode(self._window)
        if not text.endswith(REPLACEMENT):
            piece = text[self._shown :]
            self._restart([token_id])
            return piece
        # Only the last one can belong to a character still to be finished; those before it are final.
        piece = text[self._shown : -1]
        self._shown = len(text) - 1
        if len(self._window) > 2 * _UNFINISHED_TOKENS:
            self._restart(self._window[-_UNFINISHED_TOKENS:])
            self._shown -= 1
        return piece

    def _push_byte(self, token_id: int, byte: int) -> str:
        held = self._end_window()
        piece = _replace_broken(self._utf8.decode(bytes([byte])))
        if not self._window and piece == " ":
            piece = self._decode([token_id])
        self._restart([token_id])
        return held + piece

    def _end_bytes(self) -> str:
        return _replace_broken(self._utf8.decode(b"", final=True))

    def _end_window(self) -> str:
        text = self._decode(self._window)
        piece = text[self._shown :]
        self._shown = len(text)
        return piece

    def _restart(self, window: list[int]) -> None:
        self._window = window
        self._shown = len(self._decode(window))

    def _decode(self, ids: Sequence[int]) -> str:
        text = self._tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False)
        assert isinstance(text, str)
        return text


def special_ids(tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    """Ids of the tokens that steer the model and are no text, such as the end of a turn."""
    return frozenset(token_id for token_id, token in tokenizer.added_tokens_decoder.items() if token.special)


def token_name(tokenizer: PreTrainedTokenizerBase, token_id: int) -> str | None:
    """What the vocabulary calls a token; None where the model's vocabulary is larger than the tokenizer's."""
    name: object = tokenizer.convert_ids_to_tokens(token_id)
    return name if isinstance(name, str) else None


def has_byte_fallback(tokenizer: PreTrainedTokenizerBase) -> bool:
    """Whether tokens named like `<0x41>` stand for single bytes (SentencePiece) and not for their own name."""
    token_id = tokenizer.convert_tokens_to_ids("<0x41>")
    if not isinstance(token_id, int) or token_name(tokenizer, token_id) != "<0x41>":
        return False
    return bool(tokenizer.decode([token_id], clean_up_tokenization_spaces=False) == "A")


def _replace_broken(text: str) -> str:
    """One U+FFFD for each byte that is part of no character, as the tokenizers library writes them."""
    return "".join(REPLACEMENT if "\udc80" <= char <= "\udcff" else char for char in text)
