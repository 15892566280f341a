"""What is said below the settings list of the row under the cursor, in as many words as there is room for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from textual.content import Content
from textual.geometry import Size
from textual.widgets import Static

from medusa_chat.engine.text.harmless import harmless
from medusa_chat.settings.presets import Preset
from medusa_chat.tui.choices import Choices, described, with_preset
from medusa_chat.tui.settings.drawing import State
from medusa_chat.tui.settings.fields import Field
from medusa_chat.tui.settings.learning_rows import LearningRow
from medusa_chat.tui.settings.rows import Choosable, SaveRow
from medusa_chat.tui.text import MUTED

_NOTHING = Content.styled("Nothing has these words; Esc shows all settings again.", MUTED)


class Explained(Static):
    """Its rows are given; the words are chosen for them."""

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._wordings: Sequence[Content] = (Content(""),)

    def tell(self, row: Choosable | None, state: State, problem: str) -> None:
        self._wordings = wordings(row, state, problem)
        self.refresh()

    def render(self) -> Content:
        return that_has_room(self._wordings, self.content_size)


def that_has_room(wordings: Sequence[Content], room: Size) -> Content:
    """The first that fits the cells and rows; where none does, the last one, its end cut with an ellipsis."""
    if not room.area:
        return Content("")
    for words in wordings:
        rows = words.wrap(room.width)
        if len(rows) <= room.height:
            return words
    *above, last = rows[: room.height]
    return Content("\n").join([*above, last.truncate(room.width - 1).rstrip() + Content("…")])


def wordings(row: Choosable | None, state: State, problem: str) -> Sequence[Content]:
    """The fullest first; a problem with what was typed is all that is said then."""
    if row is None:
        return (_NOTHING,)
    if problem:
        return (Content.assemble(("✗ ", "bold $error"), (harmless(problem), "$foreground")),)
    if isinstance(row, SaveRow):
        now = Content.styled(described(state.choices), "$foreground")
        return Content.styled("A preset of your own: ", MUTED) + now, now
    if isinstance(row, Preset):
        return _of_preset(row, state)
    if isinstance(row, LearningRow):
        return _meant(harmless(row.told(state.learnt)), harmless(row.idle(state.learnt)))
    return _of_field(row, state)


def _of_preset(row: Preset, state: State) -> Sequence[Content]:
    """What its name does not say counts most, then what it sets."""
    settings = Content.styled(described(with_preset(state.choices, row)), MUTED if row.description else "$foreground")
    said = [Content.styled(harmless(row.description), "$foreground")] if row.description else []
    keys = Content.styled("enter applies it" + ("; d twice deletes it" if row.own else ""), MUTED)
    return [Content("\n").join(parts) for parts in ([*said, settings, keys], [*said, settings], [*said, settings][:1])]


def _of_field(row: Field, state: State) -> Sequence[Content]:
    reason = row.idle(state.choices, state.loaded)
    lossy = row.id == "decoding.rule" and state.choices.decoding.lossy
    warning = Content.styled(
        "! lossy: the answers may differ from what the model alone would say. " if lossy else "", "bold $warning"
    )
    default = f" Default: {row.show(Choices(), state.loaded)}, 0 sets it." if row.changed(state.choices) else ""
    meant = _meant(f"{row.meaning}.", reason)
    return [warning + words for words in (meant[0] + Content.styled(default, MUTED), *meant)]


def _meant(meaning: str, reason: str) -> Sequence[Content]:
    """What a setting means, and why it does not count at present; of both at least how they begin."""
    if not reason:
        return Content.styled(meaning, "$foreground"), Content.styled(_first_clause(meaning), "$foreground")
    return [
        Content.assemble((f"( ) {why}\n", "$foreground"), (words, MUTED))
        for why, words in (
            (reason, meaning),
            (reason, _first_clause(meaning)),
            (_first_clause(reason), _first_clause(meaning)),
        )
    ]


def _first_clause(text: str) -> str:
    return re.split(r"[:;]", text)[0].rstrip(".") + "."
