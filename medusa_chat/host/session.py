"""A loaded model and the answers it gives, in the process that calls it: the engine process and the commands share it."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter, sleep

from transformers import PreTrainedTokenizerBase

from medusa_chat import catalog
from medusa_chat.engine.acceptance import rule_for
from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.budget import Budget, FixedBudget
from medusa_chat.engine.cost import CONTEXT_ROWS, CostCurve, pairs_ms, pass_ms
from medusa_chat.engine.decode import Controls, common_prefix, decode, read_prompt
from medusa_chat.engine.drafters.lookup import Lookup
from medusa_chat.engine.drafters.recycling import Recycling
from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.live_budget import LiveBudget
from medusa_chat.engine.loading import load_backbone
from medusa_chat.engine.options import DecoderName, Decoding, Limits, Sampling
from medusa_chat.engine.sampling import Sampler
from medusa_chat.engine.shapes.calibration import Calibration
from medusa_chat.engine.step import Step
from medusa_chat.engine.text.detokenizer import Detokenizer
from medusa_chat.engine.text.ending import Ending
from medusa_chat.engine.text.template import render
from medusa_chat.engine.tree import CandidateTree
from medusa_chat.heads.medusa import MedusaHeads
from medusa_chat.heads.store import CONFIG, load_heads
from medusa_chat.host.costs import curve_for
from medusa_chat.host.drafting import Drafters
from medusa_chat.host.plain_steps import PlainSteps
from medusa_chat.settings.paths import native_dir

DEFAULT_BUDGET = 8
"""Nodes per step where no calibration names a better budget."""

PROBE_EVERY, FIRST_PROBE = 32, 3
"""Steps between two plain steps timed for comparison, about 3 % of the time, and the first step one is timed behind: a
person waits for the first words."""
SETTLING_SECONDS = 0.004
"""Before one is timed: a pass right behind what explains a step (torch's threads still hold the processors) took 30 ms
instead of 25, and 8 instead of 5 in int8."""


@dataclass(slots=True)
class Session:
    """One model with its heads. One answer at a time: they share the cache, and with it the conversation so far."""

    model: str
    """The card's name."""
    quantize: str
    backbone: Backbone
    tokenizer: PreTrainedTokenizerBase
    heads: MedusaHeads | None
    calibration: Calibration | None
    plain_ms: float
    """Milliseconds of a plain step, the fastest of some timed right after loading."""
    costs: CostCurve
    plain_steps: PlainSteps
    """Timed since, and some right after loading. Lanes share them: what passes cost is no part of what is compared."""
    notes: tuple[str, ...] = ()
    """Plain sentences the person should see."""
    recycling: dict[DecoderName, Recycling] = field(default_factory=dict)
    """What the backbone held likely after each token it read, in all answers so far; each decoder has its own, or one
    would remember in a comparison what another just wrote."""
    lookup: Lookup = field(default_factory=Lookup)
    """Of the conversation that the last answer belonged to."""
    card: catalog.Card | None = None
    """What was opened, so that heads which have learned since are found; None for parts from elsewhere, and for lanes."""
    heads_from: tuple[Path, int] | None = None
    """Where the heads lie, and when they were written."""
    live: dict[DecoderName, LiveBudget] = field(default_factory=dict)
    """Kept from answer to answer: what was learned of a drafter and of the machine stays true."""

    @classmethod
    def open(
        cls,
        model: str,
        *,
        quantize: str = "auto",
        on_progress: Callable[[str, float | None], None] | None = None,
        measure_anew: bool = False,
    ) -> Session:
        """Load a model card by name, or a folder by path.

        `on_progress(stage, share)` is told what is going on; nothing is downloaded. What passes cost here is measured
        (seconds) when it is not known yet, or with `measure_anew`.

        Raises:
            MedusaError: there is no such model, its weights are not here, or they cannot be read.
        """
        tell = on_progress or (lambda _stage, _share: None)
        card = catalog.find(model)
        gc.unfreeze()
        backbone, tokenizer = load_backbone(
            card.folder(), quantize=quantize, native_folder=native_dir(), tell=lambda stage: tell(stage, None)
        )
        tell("reading heads", None)
        folder = card.heads_folder()
        heads, calibration, notes = _attach(folder, backbone)
        # What torch, transformers and the model left behind is here to stay. Looking through all of it for garbage took
        # 200 ms in the middle of an answer, now and then.
        gc.collect()
        gc.freeze()
        tell("timing a plain step", None)
        pairs = pairs_ms(backbone, DEFAULT_BUDGET)
        # Whatever else the machine does only ever adds time: the fastest is the nearest to what a step costs.
        plain_ms = min(plain for plain, _ in pairs)
        costs = curve_for(
            backbone,
            plain_ms,
            heads,
            lambda share: tell("measuring what drafting costs", share),
            anew=measure_anew,
        )
        plain_steps = PlainSteps(costs)
        for plain, tree in pairs:
            plain_steps.timed(plain, DEFAULT_BUDGET, tree, CONTEXT_ROWS)
        return cls(
            card.name,
            quantize,
            backbone,
            tokenizer,
            heads,
            calibration,
            plain_ms,
            costs,
            plain_steps,
            (*backbone.notes, *notes),
            card=card,
            heads_from=_stamp(folder),
        )

    @property
    def budget(self) -> int:
        """The one number of nodes that pays most here, by held-out answers."""
        return DEFAULT_BUDGET if self.calibration is None else self.costs.best(self.calibration.expected)

    def live_budget(self, decoder: DecoderName) -> LiveBudget:
        """Of this decoder."""
        return self.live.setdefault(decoder, LiveBudget(self.costs))

    def prompt_ids(self, messages: Sequence[Mapping[str, str]]) -> list[int]:
        """See `engine.text.template.render`."""
        return render(self.tokenizer, messages)

    def start(
        self,
        prompt_ids: Sequence[int],
        sampling: Sampling,
        decoding: Decoding,
        limits: Limits,
        on_progress: Callable[[int, int], None] | None = None,
        *,
        probe: bool = False,
        explain: bool = False,
    ) -> Answer:
        """An answer that is decoded while it is iterated.

        `on_progress(done, total)` is told how much of the prompt was read; it may raise to stop the reading.
        With `probe` steps say what a plain one would have taken in their place (`Step.plain_ms`), for which one is timed
        now and then, without being kept: what else the machine does, and how long the context is, then weighs on both
        sides of the overhead. With `explain` steps say why
        children fell (`Step.reasons`), which costs a little.

        Raises:
            MedusaError: the options ask for what this model cannot do.
        """
        self._take_new_heads()
        return Answer(self, prompt_ids, sampling, decoding, limits, on_progress, probe, explain)

    def _take_new_heads(self) -> None:
        """Heads that have learned from use since the last answer, or the taught ones again."""
        if self.card is None or self.heads_from is None:
            return
        folder = self.card.heads_folder()
        if folder is None or _stamp(folder) == self.heads_from:
            return
        self.heads_from = _stamp(folder)
        # Damaged ones are no reason to answer without heads: those there are go on.
        with suppress(MedusaError):
            self.heads, self.calibration, _ = _attach(folder, self.backbone)

    def require(self, decoding: Decoding) -> None:
        """
        Raises:
            MedusaError: the options ask for what this model cannot do.
        """
        drafters = Drafters(self.model, self.heads, self.calibration, {})
        drafters.choose(decoding, decoding.budget or self.budget)

    def lane(self, prompt_ids: Sequence[int]) -> Session:
        """A session with a cache of its own over the same weights, for an answer beside others.

        It begins with copies of the rows that this one holds of `prompt_ids`, and knows what was known right after
        loading: heads, calibration and measured costs are shared, nothing learned from answers goes along or comes
        back. What it costs is its cache (`Forward.fork`).
        """
        self._take_new_heads()
        rows = common_prefix(self.backbone.ids, prompt_ids)
        # Without a card a lane never changes its heads: all lanes have the same.
        return replace(self, backbone=self.backbone.fork(rows), recycling={}, lookup=Lookup(), live={}, card=None)


class Answer:
    """One answer on its way; iterating it decodes."""

    def __init__(
        self,
        session: Session,
        prompt_ids: Sequence[int],
        sampling: Sampling,
        decoding: Decoding,
        limits: Limits,
        on_progress: Callable[[int, int], None] | None,
        probe: bool,
        explain: bool,
    ) -> None:
        self.prompt_tokens = len(prompt_ids)
        self.prefill_seconds = 0.0
        self._session = session
        self._prompt_ids = prompt_ids
        self._on_progress = on_progress
        self._probe = probe
        self._sampler = Sampler(sampling, session.backbone.device, explain=explain)
        self._ending = Ending(limits, session.backbone.eos_ids, Detokenizer(session.tokenizer))
        if not session.lookup.resume(prompt_ids):
            session.lookup = Lookup()
        self._drafters = Drafters(session.model, session.heads, session.calibration, session.recycling, session.lookup)
        self._controls = self._controls_for(decoding)
        for budget in session.live.values():
            budget.begin()

    @property
    def seed(self) -> int:
        """Reproduces this answer when given as `Sampling.seed`."""
        return self._sampler.seed

    def __iter__(self) -> Iterator[Step]:
        """One step a forward pass. Leaving off between two steps is always safe.

        Raises:
            MedusaError: the prompt is empty or too long for the model.
        """
        began = perf_counter()
        read_prompt(self._session.backbone, self._prompt_ids, self._on_progress)
        self.prefill_seconds = perf_counter() - began
        for step in decode(self._session.backbone, self._controls, self._sampler, self._prompt_ids, self._ending):
            yield replace(step, plain_ms=self._plain_ms(step)) if self._probe else step

    def _plain_ms(self, step: Step) -> float | None:
        """A step of one node is a plain step; behind some of the others one is timed, and its rows are forgotten."""
        if len(step.tree) == 1:
            return step.ms.total
        plain_steps, backbone = self._session.plain_steps, self._session.backbone
        # On a card the pass goes on while the rule waits for it, so the time of `verify` alone would not be that of a pass.
        beside = (len(step.tree), step.ms.total - step.ms.draft, backbone.length)
        if step.finish is None and step.index % PROBE_EVERY == FIRST_PROBE:
            sleep(SETTLING_SECONDS)
            plain_steps.timed(pass_ms(backbone, CandidateTree.root_only(step.tokens[-1])), *beside)
        return plain_steps.beside(*beside)

    def adjust(self, decoding: Decoding, sampling: Sampling | None = None) -> None:
        """New options from the next step on; without `sampling` that stays. The seed counts from the next answer on.

        Raises:
            MedusaError: this model cannot do what they ask; nothing changes then.
        """
        wanted = self._controls_for(decoding)
        self._controls.drafter, self._controls.rule = wanted.drafter, wanted.rule
        self._controls.budget = wanted.budget
        if sampling is not None:
            self._sampler.adjust(sampling)

    def cancel(self) -> str:
        """End the answer between two steps; returns the text that was still held back."""
        return self._ending.close()

    def _controls_for(self, decoding: Decoding) -> Controls:
        budget: Budget = (
            self._session.live_budget(decoding.decoder) if decoding.budget is None else FixedBudget(decoding.budget)
        )
        drafter = self._drafters.choose(decoding, decoding.budget or self._session.budget)
        return Controls(drafter, rule_for(decoding), budget)


def _stamp(folder: Path | None) -> tuple[Path, int] | None:
    """Tells heads on the disk from those that took their place."""
    return None if folder is None else (folder, (folder / CONFIG).stat().st_mtime_ns)


def _attach(folder: Path | None, backbone: Backbone) -> tuple[MedusaHeads | None, Calibration | None, tuple[str, ...]]:
    """Heads, what calibration knows of them, and what the person should be told."""
    if folder is None:
        return None, None, ("No heads were found for this model: Medusa is off.",)
    loaded = load_heads(folder, backbone)
    return loaded.heads, Calibration.load(folder), loaded.notes
