"""Which part of an answer's text each of its tokens brought.

A trace has the text of every step, and of every token what a list of tokens shows of it: control characters escaped,
bytes that are no whole character by their value (`<0xE2>`), special tokens by name. Text may come later than its token
(half a character, the possible beginning of a stop string) or not at all (special tokens, the rest of a stop string).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_ELEMENT = re.compile(
    r"<0x(?P<byte>[0-9A-F]{2})>|(?P<escape>\\(?:[nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}))|.", re.DOTALL
)
_BROKEN = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True, slots=True)
class _Element:
    """A character or a byte of a token: as it is listed, and what that may stand for."""

    listed: str
    char: str | None = None
    byte: int | None = None


@dataclass(slots=True)
class _Waiting:
    """A token, and what of it has not been found in the text."""

    token: int
    rest: Sequence[_Element]


class Alignment:
    """Cuts a growing text into the parts of its tokens; the parts join to the text, whatever the tokens look like.

    The newest token of a step is listed only by the next step, as its root. Until then it gets what the others leave.
    """

    def __init__(self) -> None:
        self.parts: list[tuple[int, str]] = []
        """(number of the token, its text), in the order of the text and of the tokens; never changed, only added to.
        A token without text has none, one whose text came in two goes has two."""
        self._count = 0
        self._open = ""
        self._bytes = 0
        """Bytes of the first open character that tokens had already."""
        self._held: list[_Waiting] = []
        self._newest_text = ""
        self._newest_bytes = 0

    def add(self, root: str, listed: Sequence[str], text: str) -> None:
        """A step: its root, the tokens before its newest one, and the text that became showable."""
        self._learn(root)
        self._open += text
        for piece in listed:
            self._held.append(_Waiting(self._count, _elements(piece)))
            self._count += 1
        self._settle()
        self._newest_text, self._newest_bytes = self._open, self._bytes
        self._give(self._count, self._open)
        self._open, self._bytes = "", 0
        self._count += 1

    def end(self, text: str) -> None:
        """The text behind that of the last step."""
        self._open += text
        self._settle()
        if self._count:
            self._give(self._count - 1, self._open)
        self._open = ""

    def _learn(self, root: str) -> None:
        """Now it is known which token the newest one was: what of it is still to come comes before anything else."""
        if self._count:
            consumed, rest, _ = _match(_elements(root), self._newest_text, self._newest_bytes, self._count == 1)
            if rest and consumed == len(self._newest_text):
                self._held.append(_Waiting(self._count - 1, rest))

    def _settle(self) -> None:
        """Find waiting tokens in the open text, in order, as far as it reaches."""
        while self._held and self._open:
            waiting = self._held[0]
            consumed, waiting.rest, self._bytes = _match(waiting.rest, self._open, self._bytes, not self.parts)
            self._give(waiting.token, self._open[:consumed])
            self._open = self._open[consumed:]
            if not waiting.rest:
                self._held.pop(0)

    def _give(self, token: int, text: str) -> None:
        if text:
            self.parts.append((token, text))


def _elements(piece: str) -> list[_Element]:
    return [_element(match) for match in _ELEMENT.finditer(piece)]


def _element(match: re.Match[str]) -> _Element:
    if match["byte"]:
        return _Element(match[0], byte=int(match["byte"], 16))
    if match["escape"]:
        return _Element(match[0], char=match[0].encode("ascii").decode("unicode_escape"))
    return _Element(match[0])


def _match(elements: Sequence[_Element], text: str, taken: int, start: bool) -> tuple[int, Sequence[_Element], int]:
    """(characters of the text that are this token's, elements beyond the text's end, bytes taken of the next character).

    A token that is not there at all (it is special, or shown otherwise than listed) has no characters. At the `start` of
    a text decoders drop a space.
    """
    place, first = 0, taken
    for number, element in enumerate(elements):
        if element.byte is None:
            place, taken = _past_broken(element, text, place, taken)
        if place == len(text):
            return place, elements[number:], taken
        if element.byte is not None and not text.startswith(element.listed, place):
            place, taken = _take_byte(element.byte, text, place, taken)
        elif _fits(element, text, place, taken):
            place += 1 if element.char == text[place] else len(element.listed)
        elif not (start and number == 0 and element.listed == " "):
            return 0, (), first
    return place, (), taken


def _past_broken(element: _Element, text: str, place: int, taken: int) -> tuple[int, int]:
    """Behind what is left in the text of broken bytes, up to a character that may be this one."""
    while place < len(text) and text[place] == _BROKEN and not _fits(element, text, place, taken):
        place, taken = place + 1, 0
    return place, taken


def _fits(element: _Element, text: str, place: int, taken: int) -> bool:
    return not taken and (text.startswith(element.listed, place) or text[place] == element.char)


def _take_byte(byte: int, text: str, place: int, taken: int) -> tuple[int, int]:
    """The next place and the bytes taken there. A broken byte has a sign in the text, or shares that of others."""
    encoded = text[place].encode("utf-8", "surrogatepass")
    if encoded[taken] != byte:
        return (place + 1, 0) if text[place] == _BROKEN else (place, taken)
    return (place + 1, 0) if taken + 1 == len(encoded) else (place, taken + 1)
