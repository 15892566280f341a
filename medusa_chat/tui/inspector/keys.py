"""The inspector's keys: footer, palette, help and key map all come from these."""

from __future__ import annotations

from textual.binding import Binding

INSPECTOR_BINDINGS: tuple[Binding, ...] = (
    Binding(
        "space", "pause", "Pause", id="inspector.pause", priority=True,
        tooltip="Hold the running answer after this step",
    ),
    Binding(
        "space", "resume", "Go on", id="inspector.resume", priority=True, tooltip="Let the paused answer go on",
    ),
    Binding(
        "n,full_stop", "step_once", "One step", id="inspector.step", priority=True, key_display="n",
        tooltip="Let the answer take one more step and hold it there",
    ),
    Binding(
        "left_square_bracket", "go(-1)", "Back", id="inspector.back", priority=True, key_display="[",
        tooltip="The step before",
    ),
    Binding(
        "right_square_bracket", "go(1)", "On", id="inspector.on", priority=True, key_display="]",
        tooltip="The next step",
    ),
    Binding(
        "pageup", "go(-10)", "Ten back", id="inspector.ten-back", priority=True, show=False, key_display="PgUp",
        tooltip="Ten steps back",
    ),
    Binding(
        "pagedown", "go(10)", "Ten on", id="inspector.ten-on", priority=True, show=False, key_display="PgDn",
        tooltip="Ten steps on",
    ),
    Binding(
        "home", "first", "First step", id="inspector.first", priority=True, show=False, key_display="home",
        tooltip="The first step of the answer",
    ),
    Binding(
        "end", "last", "Last step", id="inspector.last", priority=True, show=False, key_display="end",
        tooltip="The last step; a running answer is followed from there",
    ),
    Binding(
        "w", "what_if", "What if", id="inspector.what-if", priority=True,
        tooltip="Suppose another rule, other bounds or a smaller tree: see what would have been kept, and how often",
    ),
    Binding(
        "escape,q,ctrl+g", "close", "Close", id="inspector.close", priority=True, key_display="esc",
        tooltip="Back to the chat; a paused answer stays paused",
    ),
)  # fmt: skip
