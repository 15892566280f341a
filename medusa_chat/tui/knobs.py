"""Every setting a key can change: its key, its words, and how it steps. Keys, panel, palette and help all read this."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from medusa_chat.engine.options import DECODERS, MAX_BUDGET, RULES, TREE_KINDS, Decoding, Sampling
from medusa_chat.host.messages import Loaded

Value = TypeVar("Value", int, float)

BUDGETS = (1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, MAX_BUDGET)
TOP_KS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)
PROBABILITIES = (0.01, 0.02, 0.03, 0.05, 0.07, 0.09, 0.12, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 0.9)
DELTAS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.5, 2.0)
TEMPERATURES = (0.0, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5, 2.0)


@dataclass(frozen=True, slots=True)
class Choices:
    """The settings in force on the screen."""

    decoding: Decoding = field(default_factory=Decoding)
    sampling: Sampling = field(default_factory=Sampling)


@dataclass(frozen=True, slots=True)
class Knob:
    """One setting that steps both ways."""

    id: str
    key: str
    """A function key; with Shift it steps back."""
    title: str
    """In lists of actions."""
    name: Callable[[Decoding], str]
    """In the panel: what it means under the rule in force."""
    meaning: str
    show: Callable[[Choices, Loaded | None], str]
    turn: Callable[[Choices, int, Loaded | None], Choices]
    """(choices, +1 or -1, what was loaded); the same choices come back where there is nothing to change."""


def _around(values: Sequence[str], value: str, by: int) -> str:
    return values[(values.index(value) + by) % len(values)]


def stepped(ladder: Sequence[Value], value: Value, by: int) -> Value:
    """The next value of a rising ladder in that direction; the value itself may lie between two rungs."""
    if by > 0:
        return next((rung for rung in ladder if rung > value), ladder[-1])
    return next((rung for rung in reversed(ladder) if rung < value), ladder[0])


def _decoder(choices: Choices, by: int, loaded: Loaded | None) -> Choices:
    names = [name for name in DECODERS if name != "medusa" or loaded is None or loaded.heads]
    now = choices.decoding.decoder
    name = _around(names, now, by) if now in names else names[0]
    return _decoding(choices, decoder=name)


def _tree(choices: Choices, by: int, loaded: Loaded | None) -> Choices:
    if choices.decoding.decoder != "medusa":
        return choices
    return _decoding(choices, tree=_around(TREE_KINDS, choices.decoding.tree, by))


def _rule(choices: Choices, by: int, loaded: Loaded | None) -> Choices:
    return _decoding(choices, rule=_around(RULES, choices.decoding.rule, by))


def _budget(choices: Choices, by: int, loaded: Loaded | None) -> Choices:
    budget = choices.decoding.budget
    if budget is None:
        return _decoding(choices, budget=stepped(BUDGETS, loaded.budget if loaded else 8, by))
    if by < 0 and budget <= BUDGETS[0]:
        return _decoding(choices, budget=None)
    return _decoding(choices, budget=stepped(BUDGETS, budget, by))


def _heads(choices: Choices, by: int, loaded: Loaded | None) -> Choices:
    if loaded is None or loaded.heads == 0:
        return choices
    heads = min(choices.decoding.heads or loaded.heads, loaded.heads) + by
    return _decoding(choices, heads=None if heads >= loaded.heads else max(1, heads))


def _top_k(choices: Choices, by: int, loaded: Loaded | None) -> Choices:
    return _decoding(choices, top_k=stepped(TOP_KS, choices.decoding.top_k, by))


def _bound(choices: Choices, by: int, loaded: Loaded | None) -> Choices:
    decoding = choices.decoding
    if decoding.rule == "typical":
        return _decoding(choices, epsilon=stepped(PROBABILITIES, decoding.epsilon, by))
    if decoding.rule == "threshold":
        return _decoding(choices, threshold=stepped(PROBABILITIES, decoding.threshold, by))
    return choices


def _delta(choices: Choices, by: int, loaded: Loaded | None) -> Choices:
    if choices.decoding.rule != "typical":
        return choices
    return _decoding(choices, delta=stepped(DELTAS, choices.decoding.delta, by))


def _temperature(choices: Choices, by: int, loaded: Loaded | None) -> Choices:
    temperature = stepped(TEMPERATURES, choices.sampling.temperature, by)
    return replace(choices, sampling=replace(choices.sampling, temperature=temperature))


def _decoding(choices: Choices, **changes: object) -> Choices:
    return replace(choices, decoding=replace(choices.decoding, **changes))  # type: ignore[arg-type]


def _show_budget(choices: Choices, loaded: Loaded | None) -> str:
    if choices.decoding.budget is not None:
        return str(choices.decoding.budget)
    return f"auto {loaded.budget}" if loaded else "auto"


def _show_tree(choices: Choices, loaded: Loaded | None) -> str:
    """Only the heads alone can fill a fixed tree."""
    decoding = choices.decoding
    return {"plain": "–", "medusa": decoding.tree}.get(decoding.decoder, "dynamic")


def _show_heads(choices: Choices, loaded: Loaded | None) -> str:
    if loaded is not None and loaded.heads == 0:
        return "none"
    if choices.decoding.heads is None:
        return f"all {loaded.heads}" if loaded else "all"
    return f"{choices.decoding.heads} of {loaded.heads}" if loaded else str(choices.decoding.heads)


def _show_bound(choices: Choices, loaded: Loaded | None) -> str:
    decoding = choices.decoding
    if not decoding.lossy:
        return "–"
    return f"{decoding.epsilon if decoding.rule == 'typical' else decoding.threshold:.2f}"


def _name_bound(decoding: Decoding) -> str:
    return "epsilon" if decoding.rule == "typical" else "threshold"


KNOBS: tuple[Knob, ...] = (
    Knob("decoder", "f2", "Decoder", lambda _: "decoder", "Who drafts: nobody (plain), the Medusa heads, prompt lookup, recycled tokens, or all of them in one tree (joint)",
         lambda choices, _: choices.decoding.decoder, _decoder),
    Knob("tree", "f3", "Tree", lambda _: "tree", "How the guesses of the heads alone (decoder medusa) are combined into a candidate tree",
         _show_tree, _tree),
    Knob("rule", "f4", "Rule", lambda _: "rule", "Which guesses are kept; typical and threshold are lossy: above temperature 0 they change what is said",
         lambda choices, _: choices.decoding.rule_label, _rule),
    Knob("budget", "f5", "Budget", lambda _: "budget", "Nodes of the candidate tree, root included; 1 drafts nothing, auto takes in each step as many as pay",
         _show_budget, _budget),
    Knob("heads", "f6", "Heads", lambda _: "heads", "How many heads draft", _show_heads, _heads),
    Knob("top_k", "f7", "Top-k", lambda _: "top-k", "Candidates taken from each head",
         lambda choices, _: str(choices.decoding.top_k), _top_k),
    Knob("bound", "f8", "Threshold or epsilon", _name_bound, "Probability a guess needs: the typical rule's epsilon, the threshold rule's threshold",
         _show_bound, _bound),
    Knob("temperature", "f9", "Temperature", lambda _: "temperature", "0 always takes the likeliest token; counts from the next answer on",
         lambda choices, _: f"{choices.sampling.temperature:.1f}", _temperature),
    Knob("delta", "f12", "Delta", lambda _: "delta", "Entropy factor of the typical rule: lower keeps more where the model is unsure",
         lambda choices, _: f"{choices.decoding.delta:.1f}" if choices.decoding.rule == "typical" else "–", _delta),
)  # fmt: skip


def possible(choices: Choices, loaded: Loaded) -> Choices:
    """The same choices, but for those the loaded model cannot follow."""
    decoding = choices.decoding
    if decoding.decoder == "medusa" and not loaded.heads:
        return _decoding(choices, decoder="joint")
    if decoding.heads is not None and decoding.heads > loaded.heads:
        return _decoding(choices, heads=None)
    return choices


def knob(id: str) -> Knob:
    return next(knob for knob in KNOBS if knob.id == id)


def why_unchanged(id: str, choices: Choices, loaded: Loaded | None) -> str:
    """What to say when a key had nothing to change."""
    rule = choices.decoding.rule
    if id in ("bound", "delta"):
        return f"The {rule} rule has no {id if id == 'delta' else 'threshold'}; F4 changes the rule."
    if id == "tree" and choices.decoding.decoder != "medusa":
        return "Only the decoder medusa has other trees; F2 changes the decoder."
    if id == "heads" and (loaded is None or not loaded.heads):
        return "No heads are loaded." if loaded is not None else "The heads are not loaded yet."
    return f"That is as far as {knob(id).name(choices.decoding)} goes."
