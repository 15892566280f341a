"""The loop all training shares: on one processor, one card, or several processes started by `accelerate launch`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import torch
from accelerate import Accelerator
from torch import Tensor, nn

from medusa_chat.engine.errors import MedusaError
from medusa_chat.training.checkpoint import load_checkpoint, save_checkpoint
from medusa_chat.training.recipe import Recipe
from medusa_chat.training.run import Log

CHECKPOINT_EVERY = 200
"""Steps between two checkpoints."""
LOG_EVERY = 10
MEASURES = 12
"""Times in a run that held-out answers are measured, the end included."""
_SMOOTHING = 0.98

Report = Callable[[str, int, int, str], None]
"""(stage, done, of, note): told after every batch of every stage."""

Parts = Sequence[tuple[Any, ...]]
"""What the module is called with, one entry for each part of a step."""


@dataclass(slots=True)
class Loop:
    """Everything a run needs; `run` goes on from the folder's checkpoint when there is one.

    All processes hold the same weights. Each is given its share of a step's positions; losses are sums over positions
    divided by the positions of the whole step, so the result does not depend on how many processes share it.
    """

    folder: Path
    recipe: Recipe
    accelerator: Accelerator
    module: nn.Module
    """Its forward gives this process' part of the loss; only parameters with a gradient are trained and saved."""
    groups: Sequence[tuple[Sequence[nn.Parameter], float]]
    """(parameters, learning rate) of each group."""
    steps: int
    positions_a_step: int
    parts: Callable[[int], Parts]
    """Of a step (from 0): this process' share, in parts."""
    measure: Callable[[], dict[str, Any]]
    """On held-out answers; goes into the log."""
    report: Report

    def run(self) -> None:
        """
        Raises:
            MedusaError: the checkpoint belongs to another run, or the loss is no longer finite.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        parameters = [parameter for group, _ in self.groups for parameter in group]
        optimiser = torch.optim.AdamW(
            [{"params": list(group), "lr": rate} for group, rate in self.groups],
            lr=self.groups[0][1],
            betas=(0.9, 0.95),
            weight_decay=0.0,
        )
        start, smooth = self._restore(optimiser)
        log = Log(self.folder)
        if self.accelerator.is_main_process:
            log.rewind(start)
        module = self.accelerator.prepare_model(self.module)
        module.train()
        began, measured = monotonic(), max(1, self.steps // MEASURES)
        for step in range(start, self.steps):
            # Dropout depends on seed, step and process alone, as the batches do.
            torch.manual_seed((self.recipe.seed * 1_000_003 + step) * 1_009 + self.accelerator.process_index)
            loss = self._step(module, optimiser, parameters, step)
            smooth = loss if step == 0 else _SMOOTHING * smooth + (1 - _SMOOTHING) * loss
            rate = self.positions_a_step * (step + 1 - start) / max(monotonic() - began, 1e-9)
            self.report("training", step + 1, self.steps, f"loss {smooth:.3f}, {rate:,.0f} tokens/s")
            last = step + 1 == self.steps
            if self.accelerator.is_main_process and ((step + 1) % LOG_EVERY == 0 or last):
                log.write(step=step + 1, of=self.steps, loss=round(smooth, 4), tokens_per_second=round(rate, 1))
            if (step + 1) % measured == 0 or last:
                self._measure(module, log, step + 1)
            if (step + 1) % CHECKPOINT_EVERY == 0 or last:
                self._save(optimiser, step + 1, smooth)

    def _step(
        self, module: nn.Module, optimiser: torch.optim.Optimizer, parameters: list[nn.Parameter], step: int
    ) -> float:
        for group, (_, rate) in zip(optimiser.param_groups, self.groups, strict=True):
            group["lr"] = rate * pace(step, self.steps, self.recipe.warmup)
        optimiser.zero_grad()
        parts = self.parts(step)
        told = torch.zeros((), device=self.accelerator.device)
        for number, part in enumerate(parts, start=1):
            with nullcontext() if number == len(parts) else self.accelerator.no_sync(module):
                loss: Tensor = module(*part)
                # Gradients are averaged over processes, the loss is a sum over them.
                self.accelerator.backward(loss * self.accelerator.num_processes)
                told += loss.detach()
        value = float(self.accelerator.reduce(told, "sum"))
        if not math.isfinite(value):
            raise MedusaError(
                f"The loss became {value} in step {step + 1}: train again with a smaller learning rate "
                f"(it was {self.groups[0][1]:g}), or without --low-precision."
            )
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        return value

    def _measure(self, module: nn.Module, log: Log, step: int) -> None:
        self.accelerator.wait_for_everyone()
        if self.accelerator.is_main_process:
            module.eval()
            log.write(step=step, of=self.steps, **self.measure())
            log.draw()
            module.train()
        self.accelerator.wait_for_everyone()

    def _save(self, optimiser: torch.optim.Optimizer, step: int, smooth: float) -> None:
        if self.accelerator.is_main_process:
            weights = {name: value.detach() for name, value in self._trained()}
            state = {"weights": weights, "optimiser": optimiser.state_dict(), "step": step, "loss": smooth}
            save_checkpoint(self.folder, state)

    def _restore(self, optimiser: torch.optim.Optimizer) -> tuple[int, float]:
        """Steps done and smoothed loss; (0, 0) without a checkpoint."""
        state = load_checkpoint(self.folder)
        if state is None:
            return 0, 0.0
        trained = dict(self._trained())
        try:
            if set(trained) != set(state["weights"]) or int(state["step"]) > self.steps:
                raise ValueError("other parts")
            with torch.no_grad():
                for name, value in state["weights"].items():
                    trained[name].copy_(value)
            optimiser.load_state_dict(state["optimiser"])
            return int(state["step"]), float(state["loss"])
        except (RuntimeError, KeyError, ValueError) as error:
            raise MedusaError(
                f"The checkpoint in {self.folder} does not fit this run (other answers or another recipe?): "
                "train into a new folder."
            ) from error

    def _trained(self) -> Sequence[tuple[str, nn.Parameter]]:
        return [(name, parameter) for name, parameter in self.module.named_parameters() if parameter.requires_grad]


def pace(step: int, steps: int, warmup: float) -> float:
    """Share of the learning rate: rises over the warm-up, then falls along half a cosine to nothing; `step` from 0."""
    warm = max(1, round(warmup * steps))
    if step < warm:
        return (step + 1) / warm
    return 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, steps - warm)))


def share(items: Tensor, accelerator: Accelerator, parts: int) -> list[Tensor]:
    """This process' share of a step's positions, in as many parts on every process; some may be empty."""
    mine = items[accelerator.process_index :: accelerator.num_processes]
    return [mine[part::parts] for part in range(parts)]
