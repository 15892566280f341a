"""Every setting of the engine, once: its words, how it moves, when it counts. Panel, keys, palette and help read this."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.options import DECODERS, MAX_BUDGET, RULES, TREE_KINDS
from medusa_chat.host.messages import Loaded
from medusa_chat.tui.choices import Choices, why_impossible
from medusa_chat.tui.settings.scales import Names, Numbers, NumbersOrNone, Scale, Texts

BUDGETS = (1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, MAX_BUDGET)
TOP_KS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)
BOUNDS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.09, 0.12, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 0.9)
DELTAS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.5, 2.0)
TEMPERATURES = (0.0, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5, 2.0)
CANDIDATES = (0, 5, 10, 20, 40, 80, 160)
MASSES = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0)
SHARES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3)
PENALTIES = (1.0, 1.05, 1.1, 1.15, 1.2, 1.3, 1.5)
LENGTHS = (32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)

Idle = Callable[[Choices, Loaded | None], str]


@dataclass(frozen=True, slots=True)
class Field:
    """One setting."""

    id: str
    """Part of the choices and name of the option: "decoding.budget"."""
    group: str
    label: str
    meaning: str
    scale: Scale
    idle: Idle = lambda _choices, _loaded: ""
    """Why it changes nothing at present, and the way out; empty where it counts."""
    shown: Callable[[Choices, Loaded | None], str] | None = None
    """Where its value alone does not say enough."""

    def value(self, choices: Choices) -> Any:
        part, name = self.id.split(".")
        return getattr(getattr(choices, part), name)

    def put(self, choices: Choices, value: Any) -> Choices:
        """
        Raises:
            MedusaError: the value is out of its range.
        """
        part, name = self.id.split(".")
        return replace(choices, **{part: replace(getattr(choices, part), **{name: value})})

    def turn(self, choices: Choices, by: int, loaded: Loaded | None) -> Choices:
        """One step up (+1) or down (-1); the same choices come back where there is none."""
        return self.put(choices, self.scale.step(self.value(choices), by, loaded))

    def typed(self, choices: Choices, text: str, loaded: Loaded | None) -> Choices:
        """
        Raises:
            MedusaError: it is no value of this setting, or none the model can follow.
        """
        wanted = self.put(choices, self.scale.read(text))
        if reason := why_impossible(wanted, loaded):
            raise MedusaError(reason)
        return wanted

    def show(self, choices: Choices, loaded: Loaded | None) -> str:
        if self.shown is not None:
            return self.shown(choices, loaded)
        return self.scale.show(self.value(choices), loaded)

    def default(self, choices: Choices) -> Choices:
        """The choices with this one as the program has it."""
        return self.put(choices, self.value(Choices()))

    def changed(self, choices: Choices) -> bool:
        return bool(self.value(choices) != self.value(Choices()))


def _no_drafting(choices: Choices, loaded: Loaded | None) -> str:
    return "The decoder plain drafts nothing; F2 changes the decoder." if choices.decoding.decoder == "plain" else ""


def _no_heads(choices: Choices, loaded: Loaded | None) -> str:
    if choices.decoding.decoder not in ("joint", "medusa"):
        return f"The decoder {choices.decoding.decoder} drafts without heads; F2 changes the decoder."
    return "This model has no heads." if loaded is not None and not loaded.heads else ""


def _no_other_tree(choices: Choices, loaded: Loaded | None) -> str:
    return (
        ""
        if choices.decoding.decoder == "medusa"
        else "Only the decoder medusa has other trees; F2 changes the decoder."
    )


def _only_under(rule: str, name: str) -> Idle:
    return lambda choices, _: (
        "" if choices.decoding.rule == rule else f"The {choices.decoding.rule} rule has no {name}; F4 changes the rule."
    )


def _greedy_rule(choices: Choices, loaded: Loaded | None) -> str:
    if choices.decoding.rule == "greedy":
        return "The greedy rule always takes the likeliest token; F4 changes the rule."
    return ""


def _nothing_drawn(choices: Choices, loaded: Loaded | None) -> str:
    if choices.sampling.greedy:
        return "Temperature 0 always takes the likeliest token; F9 raises the temperature."
    return _greedy_rule(choices, loaded)


def _shown_budget(budget: int | None, loaded: Loaded | None) -> str:
    if budget is not None:
        return str(budget)
    return f"auto {loaded.budget}" if loaded else "auto"


def _shown_heads(heads: int | None, loaded: Loaded | None) -> str:
    if loaded is not None and loaded.heads == 0:
        return "none"
    if heads is None:
        return f"all {loaded.heads}" if loaded else "all"
    return f"{heads} of {loaded.heads}" if loaded else str(heads)


def _shown_tree(choices: Choices, loaded: Loaded | None) -> str:
    """Only the heads alone can fill a fixed tree."""
    return {"plain": "–", "medusa": choices.decoding.tree}.get(choices.decoding.decoder, "dynamic")


def _heads_there(loaded: Loaded | None) -> range:
    return range(1, loaded.heads + 1) if loaded is not None else range(0)


DRAFTING, ACCEPTANCE, SAMPLING, PENALTY, LIMITS = "Drafting", "Acceptance", "Sampling", "Penalty and seed", "Limits"

FIELDS: tuple[Field, ...] = (
    Field("decoding.decoder", DRAFTING, "decoder",
          "Who drafts: nobody (plain), the Medusa heads, prompt lookup, recycled tokens, or all of them in one tree (joint)",
          Names(DECODERS, lambda name, loaded: name != "medusa" or loaded is None or loaded.heads > 0)),
    Field("decoding.budget", DRAFTING, "budget",
          "Nodes of the candidate tree, root included; 1 drafts nothing, auto takes in each step as many as pay",
          NumbersOrNone("budget", lambda _: BUDGETS, "auto", standing=lambda loaded: loaded.budget if loaded else 8,
                        shown=_shown_budget), _no_drafting),
    Field("decoding.heads", DRAFTING, "heads", "How many heads draft",
          NumbersOrNone("heads", _heads_there, "all", at_top=True, shown=_shown_heads), _no_heads),
    Field("decoding.top_k", DRAFTING, "top-k per head", "Candidates taken from each head",
          Numbers("top-k per head", TOP_KS), _no_heads),
    Field("decoding.tree", DRAFTING, "tree",
          "How the guesses of the heads alone (decoder medusa) are combined into a candidate tree",
          Names(TREE_KINDS), _no_other_tree, _shown_tree),
    Field("decoding.rule", ACCEPTANCE, "rule",
          "Which guesses are kept; typical and threshold are lossy: above temperature 0 they change what is said",
          Names(RULES), shown=lambda choices, _: choices.decoding.rule_label),
    Field("decoding.epsilon", ACCEPTANCE, "epsilon", "Probability that is always enough for the typical rule: lower keeps more",
          Numbers("epsilon", BOUNDS, 2), _only_under("typical", "epsilon")),
    Field("decoding.delta", ACCEPTANCE, "delta",
          "Entropy factor of the typical rule: lower keeps more where the model is unsure",
          Numbers("delta", DELTAS, 1), _only_under("typical", "delta")),
    Field("decoding.threshold", ACCEPTANCE, "threshold", "Probability a guess needs under the threshold rule: lower keeps more",
          Numbers("threshold", BOUNDS, 2), _only_under("threshold", "threshold")),
    Field("sampling.temperature", SAMPLING, "temperature", "0 always takes the likeliest token; higher draws more freely",
          Numbers("temperature", TEMPERATURES, 1), _greedy_rule),
    Field("sampling.top_k", SAMPLING, "top-k", "Draws among the k likeliest tokens; off draws among all",
          Numbers("top-k", CANDIDATES, off="off"), _nothing_drawn),
    Field("sampling.top_p", SAMPLING, "top-p", "Draws among the likeliest tokens that together have this probability",
          Numbers("top-p", MASSES, 2), _nothing_drawn),
    Field("sampling.min_p", SAMPLING, "min-p", "Leaves out tokens with less than this share of the likeliest one's probability",
          Numbers("min-p", SHARES, 2, off="off"), _nothing_drawn),
    Field("sampling.repetition_penalty", PENALTY, "repetition penalty",
          "Above 1 avoids tokens that were there before, in the question too",
          Numbers("repetition penalty", PENALTIES, 2)),
    Field("sampling.seed", PENALTY, "seed",
          "A number draws the same answer again with the same settings, from the next answer on; drawn takes a fresh one each time",
          NumbersOrNone("seed", lambda _: range(1000), "drawn"), _nothing_drawn),
    Field("limits.max_tokens", LIMITS, "max tokens", "Longest answer in tokens, from the next answer on",
          Numbers("max tokens", LENGTHS)),
    Field("limits.stop", LIMITS, "stop at",
          "Texts that end an answer, from the next one on; | stands between them, \\n for a line end", Texts()),
)  # fmt: skip


def field(id: str) -> Field:
    return next(field for field in FIELDS if field.id == id)
