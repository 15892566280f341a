"""Everything Medusa, beside the conversation."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from medusa_chat.engine.text.harmless import harmless
from medusa_chat.host.messages import Loaded, StepRecord
from medusa_chat.tui.choices import Choices
from medusa_chat.tui.panel.figures import Figures
from medusa_chat.tui.panel.knob_list import KnobList
from medusa_chat.tui.panel.lengths import Histogram, Sparkline
from medusa_chat.tui.panel.tree import TreeView
from medusa_chat.tui.text import MUTED
from medusa_chat.tui.turn import Turn


class MedusaPanel(VerticalScroll, can_focus=False):
    """Redrawn from plain values whenever the screen has new ones."""

    def compose(self) -> ComposeResult:
        yield Static(id="panel-title", markup=False)
        yield Figures()
        yield Static("Accepted length per step", classes="heading", id="lengths-heading")
        yield Sparkline()
        yield Histogram()
        yield Static(classes="heading", id="tree-heading", markup=False)
        yield TreeView()
        yield Static("Settings, from the next step on", classes="heading", id="settings-heading")
        yield KnobList()

    def show_settings(self, choices: Choices, loaded: Loaded | None) -> None:
        # Parts go one after the other when the app is being left.
        for title in self.query("#panel-title").results(Static):
            title.update(_title(loaded))
        for knobs in self.query(KnobList):
            knobs.show(choices, loaded)

    def show_figures(self, turn: Turn | None, longest: int) -> None:
        self.query_one(Figures).show(turn)
        self.query_one(Sparkline).show(turn, longest)
        self.query_one(Histogram).show(turn, longest)

    def show_tree(self, step: StepRecord | None) -> None:
        self.query_one("#tree-heading", Static).update(_tree_heading(step), layout=False)
        self.query_one(TreeView).show(step)


def _title(loaded: Loaded | None) -> Content:
    if loaded is None:
        return Content.assemble(("Medusa", "bold $primary"))
    if loaded.heads == 0:
        return Content.assemble(("Medusa off", "bold $warning"), ("  no heads found for this model", MUTED))
    heads = f"{loaded.heads} heads" if loaded.heads > 1 else "1 head"
    return Content.assemble(
        ("Medusa", "bold $primary"),
        (f"  {heads} · {harmless(loaded.precision)} · {harmless(loaded.device)}", MUTED),
    )


def _tree_heading(step: StepRecord | None) -> Content:
    if step is None:
        return Content("Candidate tree")
    size = len(step.tree.tokens)
    guesses = f"step {step.index}: {len(step.path) - 1} of {size - 1} kept" if size > 1 else f"step {step.index}: plain"
    return Content.assemble("Candidate tree", ("  " + guesses, f"not bold {MUTED}"))
