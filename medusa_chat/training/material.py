"""What heads are trained and measured on: conversations apart, their hidden states, and what is to be answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.errors import MedusaError
from medusa_chat.heads.medusa import MedusaHeads, restrict
from medusa_chat.training import hidden
from medusa_chat.training.conversations import Conversation, check_ids, cut, held_out
from medusa_chat.training.hidden import HiddenStates
from medusa_chat.training.loop import Report
from medusa_chat.training.recipe import Recipe
from medusa_chat.training.targets import Targets, build_targets, frequent_tokens


@dataclass(frozen=True, slots=True)
class Split:
    """The conversations of a run, those that are trained on apart from those that are measured with."""

    train: tuple[Conversation, ...]
    test: tuple[Conversation, ...]
    passed_over: int
    """Those of which nothing but the prompt fits the context."""

    @classmethod
    def of(cls, conversations: Sequence[Conversation], backbone: Backbone, share: float) -> Split:
        """
        Raises:
            MedusaError: the conversations belong to another model, or too few are left for one of the two parts.
        """
        check_ids(conversations, backbone.vocab_size)
        short = [short for one in conversations if (short := cut(one, backbone.context)) is not None]
        train = tuple(one for one in short if not held_out(one, share))
        test = tuple(one for one in short if held_out(one, share))
        if not test or not train:
            raise MedusaError(
                f"{len(short)} conversations leave {len(train)} to train on and {len(test)} to measure with; give more data."
            )
        return cls(train, test, len(conversations) - len(short))


@dataclass(frozen=True, slots=True)
class Material:
    """Everything the heads are trained and measured on."""

    train: HiddenStates
    train_targets: Targets
    test: HiddenStates
    test_targets: Targets
    token_map: Tensor | None


def prepare(
    backbone: Backbone,
    split: Split,
    folder: Path,
    recipe: Recipe,
    report: Report,
    begin_with: MedusaHeads | None = None,
) -> Material:
    """Hidden states (computed where `folder` lacks them), vocabulary (of the heads there are, if any) and targets."""
    hidden.compute(
        backbone.model,
        (*split.train, *split.test),
        folder,
        low_precision=recipe.low_precision,
        on_progress=lambda done, of: report("hidden states", done, of, ""),
    )
    train, test = hidden.load(folder, split.train), hidden.load(folder, split.test)
    token_map = vocabulary(train, recipe, backbone) if begin_with is None else begin_with.token_map
    output = restrict(backbone.output_layer.weight, token_map)  # type: ignore[arg-type]
    if recipe.low_precision:
        output = output.bfloat16()
    targets = [
        build_targets(part, output, token_map, backbone.vocab_size, lambda done, of: report("targets", done, of, ""))
        for part in (train, test)
    ]
    return Material(train, targets[0], test, targets[1], token_map)


def vocabulary(states: HiddenStates, recipe: Recipe, backbone: Backbone) -> Tensor | None:
    """The tokens the heads are to know; None for all."""
    if not 0 < recipe.vocab < backbone.vocab_size:
        return None
    return frequent_tokens(states, recipe.vocab, backbone.eos_ids, backbone.vocab_size)
