"""How the Models screen is shown: the list, all about the marked model, the running pull, the model being loaded."""

from __future__ import annotations

from functools import partial

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.screen import Screen
from textual.widgets import OptionList, Static
from textual.worker import get_current_worker

from medusa_chat.catalog.fits import PRECISIONS
from medusa_chat.catalog.pull_queue import PullQueue
from medusa_chat.catalog.size import size
from medusa_chat.engine.errors import MedusaError
from medusa_chat.tui.chat.status import Status, StatusLine
from medusa_chat.tui.dialogue import Dialogue
from medusa_chat.tui.first_model import prefer_model
from medusa_chat.tui.key_line import KeyLine
from medusa_chat.tui.models.about import Precisions, about
from medusa_chat.tui.models.about_view import AboutModel, Details
from medusa_chat.tui.models.model_list import ModelList
from medusa_chat.tui.models.pull_line import PullLine
from medusa_chat.tui.models.rows import State, row, state_of
from medusa_chat.tui.models.survey import Model, Survey, survey
from medusa_chat.tui.own_precisions import AUTO
from medusa_chat.tui.text import MUTED

LOOK_SECONDS = 0.1
BEAT_EVERY = 2
_READING_SECONDS = 10.0


class ModelsView(Screen[None]):
    """Draws what disk, pulls and dialogue hold; what a person wants of it is decided elsewhere."""

    CSS_PATH = "models.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (88, "-medium"), (150, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-short"), (20, "-high")]  # noqa: RUF012

    def __init__(self, dialogue: Dialogue, pulls: PullQueue | None = None) -> None:
        super().__init__()
        self._dialogue = dialogue
        self._pulls = pulls or PullQueue()
        self._survey: Survey | None = None
        self._wanted: str | None = None
        """The model to mark once it is listed."""
        self._chosen: dict[str, str] = {}
        """By model: the precision of its next load, where one was chosen on this screen."""
        self._problems: dict[str, str] = {}
        """By model: what went wrong last."""
        self._loading: str | None = None
        """The model that is to take the place of the loaded one."""
        self._ticks = 0
        self._shown: object = None

    def compose(self) -> ComposeResult:
        yield Static(id="machine", markup=False)
        with Container(id="body"):
            yield ModelList()
            with Details(id="details"):
                yield AboutModel()
        yield PullLine()
        yield StatusLine(id="loading")
        yield KeyLine()

    def on_mount(self) -> None:
        self.query_one(ModelList).focus()
        self.set_interval(LOOK_SECONDS, self._tick)

    def on_screen_resume(self) -> None:
        self.action_look()

    @property
    def pulling(self) -> bool:
        return self._pulls.running is not None

    def on_unmount(self) -> None:
        self._pulls.close()

    @work(thread=True, exclusive=True, group="survey")
    def action_look(self) -> None:
        """Disk and graphics driver answer when they can; the screen does not wait."""
        worker = get_current_worker()
        try:
            found = survey()
        except MedusaError as error:
            self.app.call_from_thread(self._tell, str(error))
            return
        if not worker.is_cancelled:
            self.app.call_from_thread(self._take, found)

    def _take(self, found: Survey) -> None:
        before, self._survey = self._survey, found
        for problem in found.problems:
            if before is None or problem not in before.problems:
                self._tell(problem)
        if before is None and self._wanted is None and self._dialogue.loaded is not None:
            self._wanted = self._dialogue.loaded.model
        self._paint()
        if self._wanted is not None and self.query_one(ModelList).mark(self._wanted):
            self._wanted = None

    def want(self, name: str) -> None:
        """Have the cursor on this model as soon as it is listed."""
        if not (self.is_mounted and self.query_one(ModelList).mark(name)):
            self._wanted = name

    def _tick(self) -> None:
        self._ticks += 1
        for ended in self._pulls.look():
            if ended.problem is not None:
                self._problems[ended.name] = ended.problem
                self._tell(ended.problem)
            elif not ended.cancelled:
                self.notify(f"{ended.name} is here; in the list of models Enter loads it.")
            self.action_look()
        self._follow_loading()
        if self.is_current:
            self._paint()

    def _follow_loading(self) -> None:
        """Notice that the model asked for is loaded, or could not be."""
        dialogue = self._dialogue
        if self._loading is None or dialogue.loading is not None:
            return
        name, self._loading = self._loading, None
        if dialogue.model.trouble is not None:
            self._problems[name] = dialogue.model.trouble
        elif dialogue.loaded is not None:
            self.notify(f"{dialogue.loaded.model} is loaded, {dialogue.loaded.precision}.")
            self._remember(name, dialogue.model.quantize)
        self.action_look()

    @work(thread=True, group="remember")
    def _remember(self, name: str, precision: str) -> None:
        """The next start opens with it, as it was wanted now."""
        try:
            prefer_model(name, precision)
        except MedusaError as error:
            self.app.call_from_thread(self._tell, str(error))

    def _paint(self) -> None:
        """Redraws what changed."""
        stage = self._dialogue.loading
        self.query_one(PullLine).show(self._pulls.running, self._pulls.waiting)
        self.query_one(StatusLine).show(Status(stage=stage, beat=self._ticks // BEAT_EVERY if stage else 0))
        found = self._survey
        if found is None:
            return
        states = [self._state(model) for model in found.models]
        listed = self.query_one(ModelList)
        listed.show(
            [
                (model.card.name, row(model, state, model.card.name == listed.marked))
                for model, state in zip(found.models, states, strict=True)
            ]
        )
        marked = self._marked
        shown = (found, marked, dict(self._chosen), states, dict(self._problems))
        if shown != self._shown:
            self._shown = shown
            self._paint_details(found, marked)
            self.refresh_bindings()

    def _paint_details(self, found: Survey, marked: Model | None) -> None:
        free = f"   {size(found.machine.free)} of {size(found.machine.memory)} memory free"
        self.query_one("#machine", Static).update(Content.assemble(("Models", "bold $primary"), (free, MUTED)))
        if marked is not None:
            problem = self._problems.get(marked.card.name)
            state, precisions = self._state(marked), Precisions(self._precision_of(marked), self._in_use(marked))
            self.query_one(AboutModel).show(partial(about, marked, state, precisions, found.machine, problem))

    def _state(self, model: Model) -> State:
        name, pulling = model.card.name, self._pulls.running
        return state_of(
            model,
            loaded=loaded.precision
            if (loaded := self._dialogue.loaded) is not None and self._is_loaded(model)
            else None,
            loading=self._loading == name,
            pulling=pulling if pulling is not None and pulling.name == name else None,
            waits=name in self._pulls.waiting,
        )

    def _is_loaded(self, model: Model) -> bool:
        return self._dialogue.loaded is not None and self._dialogue.loaded.model == model.card.name

    def _precision_of(self, model: Model) -> str:
        """Of its next load: as chosen here, as it is loaded, or as chosen for it last."""
        name = model.card.name
        if name in self._chosen:
            return self._chosen[name]
        if self._is_loaded(model):
            return self._dialogue.model.quantize
        return self._survey.precisions.get(name, AUTO) if self._survey is not None else AUTO

    def _in_use(self, model: Model) -> str | None:
        """The one it is loaded in, if it is."""
        loaded = self._dialogue.loaded
        if loaded is None or not self._is_loaded(model):
            return None
        wanted = self._dialogue.model.quantize
        # The engine takes the next best where it cannot have what was wanted.
        return wanted if wanted == AUTO or loaded.precision not in PRECISIONS else loaded.precision

    @property
    def _marked(self) -> Model | None:
        name = self.query_one(ModelList).marked
        models = self._survey.models if self._survey is not None else ()
        return next((model for model in models if model.card.name == name), None)

    @on(OptionList.OptionHighlighted)
    def _on_moved(self) -> None:
        self.query_one("#details").scroll_home(animate=False)
        self._paint()

    def _tell(self, sentence: str) -> None:
        self.notify(sentence, severity="error", timeout=_READING_SECONDS)
