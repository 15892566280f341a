"""The node under the cursor and the step it stands in, in words and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.content import Content

from medusa_chat.engine.options import Decoding
from medusa_chat.engine.text.harmless import harmless
from medusa_chat.host.messages import StepRecord
from medusa_chat.tui.inspector.fate import Fate, fates
from medusa_chat.tui.inspector.label import SIGNS
from medusa_chat.tui.inspector.sources import sign_of
from medusa_chat.tui.inspector.what_if import WhatIf
from medusa_chat.tui.inspector.why import number, quoted, then, why
from medusa_chat.tui.panel.lengths import bar
from medusa_chat.tui.text import MUTED, figure, showable_piece

_BAR = 12
_NAME = 9
_WORDS = {
    Fate.ROOT: "the root",
    Fate.KEPT: "kept",
    Fate.HELD: "likely enough",
    Fate.FELL: "fell",
    Fate.UNSEEN: "not looked at",
}


def node_words(
    step: StepRecord,
    node: int,
    follower: str | None,
    decodings: Sequence[Decoding],
    bars: bool = True,
    supposed: WhatIf | None = None,
) -> Content:
    """What there is to know about a node; without `bars` in as few lines as it goes."""
    fate = fates(step)[node]
    lines = [_name(step, node, fate), Content(why(step, node, fate, follower, decodings))]
    if supposed is not None:
        lines.append(Content.styled(then(supposed, node), "bold $foreground"))
    if bars:
        return Content("\n").join([*lines, Content(" "), *_chances(step, node), *_after(step, node)])
    return Content("\n").join([*lines, *_chances_in_one(step, node), *_after(step, node)])


def step_words(step: StepRecord, plain_ms: float | None) -> Content:
    """The times of a step; `plain_ms` of a plain step where it does not say itself what one would have taken."""
    parts = (
        ("draft", step.draft_ms),
        ("verify", step.verify_ms),
        ("accept", step.accept_ms),
        ("commit", step.commit_ms),
        ("text", step.text_ms),
    )
    rows = [_time(name, ms, step.ms) for name, ms in parts]
    plain = step.plain_ms or plain_ms
    overhead = step.ms / plain if plain else None
    return Content("\n").join(
        [
            *rows,
            _sum("step", step.ms, f"overhead {figure(overhead)}"),
            _sum("plain", plain, "at its pace" if step.plain_ms else "in this answer"),
        ]
    )


def times_in_one(step: StepRecord, plain_ms: float | None) -> Content:
    """The same in one line."""
    plain = step.plain_ms or plain_ms
    overhead = step.ms / plain if plain else None
    return Content.assemble(
        (f"{step.ms:.1f} ms", "bold $foreground"),
        (
            f" = draft {step.draft_ms:.1f} + verify {step.verify_ms:.1f} + accept {step.accept_ms:.1f}"
            f" + commit {step.commit_ms:.1f} + text {step.text_ms:.1f} · plain {figure(plain, 1)}"
            f" · overhead {figure(overhead)}",
            MUTED,
        ),
    )


def _name(step: StepRecord, node: int, fate: Fate) -> Content:
    sign, style = SIGNS[fate]
    text = showable_piece(harmless(step.tree.texts[node]))
    return Content.assemble(
        (f"{sign} " if sign.strip() else "", style),
        (text, "bold $foreground"),
        (f"  {_WORDS[fate]} · depth {depth(step, node)} · token {step.tree.tokens[node]}", MUTED),
    )


def _chances(step: StepRecord, node: int) -> Iterable[Content]:
    if node == 0:
        return
    yield _chance("drafter", step.tree.scores[node], "$primary")
    yield _chance("model", None if step.beliefs is None else step.beliefs.probabilities[node], "$accent")
    yield Content.assemble(("by".ljust(_NAME), MUTED), _origin(step, node))


def _chance(name: str, probability: float | None, hue: str) -> Content:
    shown = "–" if probability is None else number(probability)
    return Content.assemble(
        (name.ljust(_NAME), MUTED), (f"{shown:>6} ", "bold $foreground"), (bar(probability or 0.0, _BAR), hue)
    )


def _chances_in_one(step: StepRecord, node: int) -> Iterable[Content]:
    """One line; none for the root."""
    if node:
        believed = "–" if step.beliefs is None else number(step.beliefs.probabilities[node])
        yield Content.assemble(
            ("drafter ", MUTED), (number(step.tree.scores[node]), "bold $foreground"), ("  model ", MUTED),
            (believed, "bold $foreground"), ("  by ", MUTED), _origin(step, node),
        )  # fmt: skip


def _origin(step: StepRecord, node: int) -> Content:
    source = step.tree.sources[node]
    return Content.styled(harmless(source), f"bold {sign_of(source)[1]}")


def _after(step: StepRecord, node: int) -> Iterable[Content]:
    """What the backbone would rather have said, and what it would say next."""
    if step.beliefs is None:
        yield Content.styled("model: –  its probabilities were not kept with this step", MUTED)
        return
    parent = step.tree.parents[node]
    if node and step.beliefs.favourites[parent] != step.tree.texts[node]:
        yield _favourite("rather", step, parent)
    yield _favourite("after it", step, node)


def _favourite(name: str, step: StepRecord, node: int) -> Content:
    """The likeliest token after a node."""
    if step.beliefs is None:
        return Content("")
    return Content.assemble(
        (name.ljust(_NAME), MUTED), (quoted(step.beliefs.favourites[node]), "$foreground"),
        (f" {number(step.beliefs.certainties[node])}", "bold $foreground"),
        (f"  entropy {step.beliefs.entropies[node]:.2f}", MUTED),
    )  # fmt: skip


def _time(name: str, ms: float, whole: float) -> Content:
    share = ms / whole if whole else 0.0
    return Content.assemble(
        (name.ljust(_NAME), MUTED), (f"{ms:6.1f} ms ", "$foreground"), (bar(share, _BAR), "$primary")
    )


def _sum(name: str, ms: float | None, words: str) -> Content:
    shown = f"{figure(ms, 1):>6} ms"
    return Content.assemble((name.ljust(_NAME), MUTED), (shown, "bold $foreground"), (f" {words}", MUTED))


def depth(step: StepRecord, node: int) -> int:
    """0 for the root."""
    steps = 0
    while (node := step.tree.parents[node]) >= 0:
        steps += 1
    return steps
