"""What the help says: every key by where it works, what the words mean, and where files lie."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from textual.content import Content

from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.text.harmless import harmless
from medusa_chat.settings import paths
from medusa_chat.settings.preferences import preferences_file
from medusa_chat.tui.bound import PLACES, Bound, place_of
from medusa_chat.tui.key_names import spelled
from medusa_chat.tui.own_keys import in_force
from medusa_chat.tui.text import FAINT, MUTED, fitted

_NAME = 18
_IDS_FROM = 70
"""Columns from which an action's id is said too."""
_BACK = ".back"
_WORDS = (
    ("step", "one forward pass of the model: guess, check, keep"),
    ("candidate tree", "the guesses of a step; a path through it is kept, marked ✓"),
    ("accepted length", "tokens a step yields: kept guesses and the one the model adds"),
    ("acceleration rate", "tokens per step"),
    ("overhead", "time of a step ÷ time of a plain step on this machine"),
    ("speedup", "acceleration rate ÷ overhead: how much faster than plain decoding"),
    ("lossless", "guesses never change what the model says, nor how often"),
    ("lossy", "typical and threshold keep likely guesses and so change the answers"),
)
_MORE = {
    "app": (("ctrl+p", "Every action by name"),),
    "settings": (("shift+F2–F12", "The same setting, one value back"),),
    "inspector": (
        ("tab", "Between tree, bar over the steps (left and right walk through them) and what-if settings"),
        ("mouse", "A click on the bar goes to a step, one on a guess looks at it, one on a setting turns it"),
    ),
    "chat": (("tab", "To the messages, to the settings in the panel (arrows change them), and back"),),
}


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    text: str
    id: str = ""
    title: str = ""
    """What it is called at the foot of the screen: not shown here, but found."""

    def has(self, words: str) -> bool:
        said = f"{self.name} {self.text} {self.id} {self.title}".lower()
        return all(word in said for word in words.lower().split())


Section = tuple[str, Sequence[Row]]


def sections(bound: Sequence[Bound], keymap: Mapping[str, str], here: Sequence[str]) -> list[Section]:
    """
    Args:
        keymap: the person's own keys in force, by id.
        here: areas of the screen the help was opened from; they come first.
    """
    areas = list(dict.fromkeys([*here, *PLACES, *sorted({each.area for each in bound})]))
    keys = [(place_of(area), _rows(area, bound, keymap)) for area in areas]
    words = [Row(name, text) for name, text in _WORDS]
    return [*((title, rows) for title, rows in keys if rows), ("Words", words), ("Where things lie", _places())]


def _rows(area: str, bound: Sequence[Bound], keymap: Mapping[str, str]) -> list[Row]:
    rows = [
        Row(
            spelled(in_force(each.binding, keymap)),
            each.binding.tooltip or each.binding.description,
            each.id,
            each.binding.description,
        )
        for each in bound
        if each.area == area and not each.id.endswith(_BACK)
    ]
    return rows + [Row(name, text) for name, text in _MORE.get(area, ())] if rows else []


def _places() -> list[Row]:
    return [
        Row("settings", _path(preferences_file)),
        Row("your own keys", 'in that file: [keymap], then an action\'s id and its key, as "chat.new" = "ctrl+k"'),
        Row("your themes", _path(lambda: paths.config_dir() / "themes")),
        Row("conversations", _path(paths.chats_file)),
        Row("models", _path(paths.models_dir)),
        Row("log", _path(paths.log_file)),
    ]


def _path(place: Callable[[], Path]) -> str:
    try:
        return str(place())
    except MedusaError as error:
        return str(error)


def page(shown: Sequence[Section], words: str, width: int) -> Content:
    """Lines of that width; with `words` only rows that have them all."""
    name = min(_NAME, max(8, width // 3))
    blocks = []
    for title, rows in shown:
        found = [row for row in rows if row.has(words)]
        if found:
            lines = [Content.styled(title, "bold $secondary")]
            for row in found:
                lines += _lines(row, name, width)
            blocks.append(Content("\n").join(lines))
    if not blocks:
        return Content.styled("Nothing here has these words.", MUTED)
    return Content("\n\n").join(blocks)


def _lines(row: Row, name: int, width: int) -> list[Content]:
    text = Content(harmless(row.text))
    if row.id and width >= _IDS_FROM:
        text = Content.assemble(text, (f"  {row.id}", FAINT))
    first, *more = text.wrap(max(1, width - name)) or [Content("")]
    return [
        Content.styled(fitted(row.name, name - 1) + " ", "bold $accent") + first,
        *(Content(" " * name) + line for line in more),
    ]
