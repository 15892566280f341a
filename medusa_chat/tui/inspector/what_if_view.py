"""What if: the settings to suppose, and what they would have made of this step and of all steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widget import Widget

from medusa_chat.host.messages import StepRecord
from medusa_chat.tui.inspector.supposition import KNOBS, Overall, Supposition
from medusa_chat.tui.inspector.what_if import WhatIf
from medusa_chat.tui.text import MUTED, fitted

_NAME, _VALUE = 12, 16
_KNOBS = 1 + _NAME + 2 + _VALUE + 2
_BESIDE_FROM = 76
CAVEAT = "Each step as it was reached: after one that ends otherwise the text would have gone on otherwise."
COLD = "At temperature 0 every rule keeps the likeliest token alone; raise it to see bounds count."


@dataclass(frozen=True, slots=True)
class Answer:
    """What there is to say about a supposition."""

    step: StepRecord
    result: WhatIf | None
    overall: Overall | None
    """None while it is being counted."""
    trouble: str = ""
    """Why there is no result."""


class WhatIfView(Widget, can_focus=True):
    """Up and down choose a setting, left and right change it; so does the mouse. Nothing is sent to the engine."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Setting above", id="supposing.up", show=False, tooltip="Go to the setting above"),
        Binding(
            "down,j", "move(1)", "Setting below", id="supposing.down", show=False, tooltip="Go to the setting below"
        ),
        Binding(
            "left,h,minus", "turn(-1)", "Less", id="supposing.less", key_display="←", tooltip="Suppose a lower value"
        ),
        Binding(
            "right,l,plus,equals_sign",
            "turn(1)",
            "More",
            id="supposing.more",
            key_display="→",
            tooltip="Suppose a higher value",
        ),
    ]

    @dataclass
    class Moved(Message):
        """To the setting above (-1) or below (+1)."""

        by: int

    @dataclass
    class Turned(Message):
        """The setting under the cursor, one step down (-1) or up (+1)."""

        by: int

    def __init__(self) -> None:
        super().__init__()
        self._supposition: Supposition | None = None
        self._answer: Answer | None = None

    def show(self, supposition: Supposition, answer: Answer) -> None:
        self._supposition, self._answer = supposition, answer
        self.refresh()

    def action_move(self, by: int) -> None:
        self.post_message(self.Moved(by))

    def action_turn(self, by: int) -> None:
        self.post_message(self.Turned(by))

    def on_click(self, event: Click) -> None:
        place = event.get_content_offset(self)
        if self._supposition is None or place is None or place.y >= len(KNOBS) or place.x >= _KNOBS:
            return
        self.post_message(self.Moved(place.y - self._supposition.cursor))
        if place.x > _NAME:
            self.post_message(self.Turned(1 if place.x > _NAME + 2 + _VALUE // 2 else -1))

    def render(self) -> Content:
        if self._supposition is None or self._answer is None:
            return Content("")
        width = self.size.width
        beside = width >= _BESIDE_FROM
        knobs = [self._knob(self._supposition, place) for place in range(len(KNOBS))]
        words = outcome(self._supposition, self._answer).wrap(width - _KNOBS - 2 if beside else width)
        if not beside:
            return Content("\n").join([*knobs, Content(" "), *words])
        blank = Content(" " * _KNOBS)
        rows = max(len(knobs), len(words))
        left = [*knobs, *[blank] * (rows - len(knobs))]
        right = [*words, *[Content("")] * (rows - len(words))]
        return Content("\n").join(Content.assemble(one, "  ", other) for one, other in zip(left, right, strict=True))

    def _knob(self, supposition: Supposition, place: int) -> Content:
        """Name and value, between arrows where the cursor is."""
        name, here = KNOBS[place], place == supposition.cursor
        nodes = len(self._answer.step.tree.tokens) if self._answer is not None else 1
        value = fitted(supposition.shown(name, nodes), _VALUE)
        lossy = name == "rule" and supposition.decoding.lossy
        style = "bold $warning" if lossy else MUTED if supposition.idle(name) else "bold $foreground"
        cursor = "$block-cursor-text-style $block-cursor-foreground on $block-cursor-background"
        if here and self.has_focus:
            return Content.styled(f" {name:<{_NAME}}‹ {value} ›", cursor)
        left, right = ("‹ ", " ›") if here else ("  ", "  ")
        return Content.assemble(
            (f" {name:<{_NAME}}", "$foreground" if here else MUTED), (left, MUTED), (value, style), (right, MUTED)
        )


def outcome(supposition: Supposition, answer: Answer) -> Content:
    """In a few sentences, one a line."""
    if answer.result is None:
        return Content.styled(answer.trouble, MUTED)
    lines = [_this_step(answer.step, answer.result), *_draws(answer.result)]
    if answer.overall is not None:
        lines += _all_steps(answer.overall)
    lines.append(Content.styled(COLD if supposition.greedy and supposition.decoding.lossy else CAVEAT, MUTED))
    return Content("\n").join(lines)


def _this_step(step: StepRecord, result: WhatIf) -> Content:
    before, after = len(step.tokens), len(step.tokens) if result.same else len(result.path)
    if result.same:
        return Content.assemble(
            ("accepted length ", MUTED), (f"{before}", "bold $foreground"), ("  the same path", MUTED)
        )
    style = "bold $success" if after > before else "bold $error" if after < before else "bold $foreground"
    end = "" if after != before else "  by another path"
    known = " or more" if result.open else ""
    return Content.assemble(("accepted length ", MUTED), (f"{before} → {after}{known}", style), (end, MUTED))


def _draws(result: WhatIf) -> list[Content]:
    if result.expected is None:
        return []
    return [Content.styled(f"over all draws {result.expected:.2f} tokens on average", MUTED)]


def _all_steps(overall: Overall) -> list[Content]:
    before, after = overall.tokens / overall.steps, overall.supposed / overall.steps
    style = "bold $success" if after > before + 5e-3 else "bold $error" if after < before - 5e-3 else "bold $foreground"
    return [
        Content.assemble(("tokens per step ", MUTED), (f"{before:.2f} → {after:.2f}", style)),
        Content.styled(f"{overall.changed} of {overall.steps} steps would have kept another path", MUTED),
    ]
