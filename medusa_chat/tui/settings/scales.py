"""How a setting moves, is typed and is shown: along names, along a ladder of numbers, or as a list of texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

from medusa_chat.engine.errors import MedusaError
from medusa_chat.host.messages import Loaded

Number = TypeVar("Number", int, float)


class Scale(Protocol):
    """Of one setting. Values out of range are refused by the options themselves (`engine.options`)."""

    @property
    def steps(self) -> bool:
        """Whether arrows move it."""
        ...

    def step(self, value: Any, by: int, loaded: Loaded | None) -> Any:
        """The next value in that direction (+1 or -1), or the same where there is none."""
        ...

    def read(self, text: str) -> Any:
        """Of what a person typed. Raises MedusaError where it is none of these values."""
        ...

    def show(self, value: Any, loaded: Loaded | None) -> str: ...

    def edited(self, value: Any) -> str:
        """The text a person starts from; `read` gives the value back."""
        ...


def stepped(ladder: Sequence[Number], value: Number, by: int) -> Number:
    """The next value of a rising ladder in that direction; the value itself may lie between two rungs."""
    if by > 0:
        return next((rung for rung in ladder if rung > value), ladder[-1])
    return next((rung for rung in reversed(ladder) if rung < value), ladder[0])


@dataclass(frozen=True, slots=True)
class Names:
    """One of some words; behind the last comes the first."""

    names: Sequence[str]
    allowed: Callable[[str, Loaded | None], bool] = lambda _name, _loaded: True
    steps: ClassVar[bool] = True

    def step(self, value: str, by: int, loaded: Loaded | None) -> str:
        names = [name for name in self.names if self.allowed(name, loaded)]
        return names[(names.index(value) + by) % len(names)] if value in names else names[0]

    def read(self, text: str) -> str:
        """The beginning of a name is enough where no other begins so."""
        typed = text.strip().casefold()
        begun = [name for name in self.names if typed and name.startswith(typed)]
        return begun[0] if len(begun) == 1 else typed

    def show(self, value: str, loaded: Loaded | None) -> str:
        return value

    def edited(self, value: str) -> str:
        return value


@dataclass(frozen=True, slots=True)
class Numbers:
    """A rising ladder; any number between may be typed."""

    name: str
    """For messages."""
    ladder: Sequence[float]
    decimals: int = 0
    """0: whole numbers only."""
    off: str = ""
    """What 0 is called where it switches the setting off."""
    steps: ClassVar[bool] = True

    def step(self, value: float, by: int, loaded: Loaded | None) -> float:
        return stepped(self.ladder, value, by)

    def read(self, text: str) -> float:
        if self.off and text.strip().casefold() == self.off:
            return 0
        return _number(text, self.name, whole=self.decimals == 0, word=self.off)

    def show(self, value: float, loaded: Loaded | None) -> str:
        return self.off if self.off and value == 0 else self.edited(value)

    def edited(self, value: float) -> str:
        if isinstance(value, int):
            return str(value)
        short = f"{value:.{self.decimals}f}"
        return short if float(short) == value else repr(value)


@dataclass(frozen=True, slots=True)
class NumbersOrNone:
    """Whole numbers, and a word for None at one end of them."""

    name: str
    ladder: Callable[[Loaded | None], Sequence[int]]
    none: str
    at_top: bool = False
    """Whether None lies above the highest number; else it lies below the lowest."""
    standing: Callable[[Loaded | None], int | None] = lambda _loaded: None
    """The number None stands for, where it is known."""
    shown: Callable[[int | None, Loaded | None], str] | None = None
    steps: ClassVar[bool] = True

    def step(self, value: int | None, by: int, loaded: Loaded | None) -> int | None:
        ladder = self.ladder(loaded)
        if not ladder:
            return value
        if value is None:
            return self._from_none(ladder, by, loaded)
        if self.at_top and by > 0 and value >= ladder[-1] - 1:
            return None
        if not self.at_top and by < 0 and value <= ladder[0]:
            return None
        return stepped(ladder, value, by)

    def _from_none(self, ladder: Sequence[int], by: int, loaded: Loaded | None) -> int | None:
        standing = self.standing(loaded)
        if self.at_top:
            return None if by > 0 else stepped(ladder, ladder[-1], by)
        if standing is not None:
            return stepped(ladder, standing, by)
        return ladder[0] if by > 0 else None

    def read(self, text: str) -> int | None:
        if text.strip().casefold() in ("", self.none):
            return None
        return int(_number(text, self.name, whole=True, word=self.none))

    def show(self, value: int | None, loaded: Loaded | None) -> str:
        if self.shown is not None:
            return self.shown(value, loaded)
        return self.edited(value)

    def edited(self, value: int | None) -> str:
        return self.none if value is None else str(value)


@dataclass(frozen=True, slots=True)
class Texts:
    """Some texts, typed with | between them; \\n and \\t stand for line end and tab."""

    steps: ClassVar[bool] = False

    def step(self, value: tuple[str, ...], by: int, loaded: Loaded | None) -> tuple[str, ...]:
        return value

    def read(self, text: str) -> tuple[str, ...]:
        parts = [part.strip(" ") for part in text.split("|")]
        return tuple(_unescaped(part) for part in parts if part)

    def show(self, value: tuple[str, ...], loaded: Loaded | None) -> str:
        return self.edited(value) or "none"

    def edited(self, value: tuple[str, ...]) -> str:
        return " | ".join(part.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t") for part in value)


def _unescaped(text: str) -> str:
    signs = {"n": "\n", "t": "\t", "\\": "\\"}
    written, rest = "", text
    while "\\" in rest[:-1]:
        before, _, rest = rest.partition("\\")
        written += before + signs.get(rest[0], "\\" + rest[0])
        rest = rest[1:]
    return written + rest


def _number(text: str, name: str, whole: bool, word: str) -> float:
    try:
        return int(text) if whole else float(text)
    except ValueError:
        wanted = "a whole number" if whole else "a number"
        raise MedusaError(
            f"{name} is {text.strip()[:20]!r}; it must be {wanted}{f' or {word}' if word else ''}."
        ) from None
