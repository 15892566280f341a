"""The peer `economize`: that package's Medusa decoding (its passes, cache, tree verification) with this project's heads.

The package's own heads read the hidden state alone and the whole vocabulary. Heads that see the root or know some tokens
only enter as a technique of their own, by the package's registry: its drafter stays, the heads' arithmetic is replaced.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar

import economize
import torch
from economize.techniques.medusa import MedusaConfig, MedusaDrafter, MedusaTechnique
from safetensors.torch import load_file
from torch import Tensor
from torch.nn.functional import rms_norm
from transformers import AutoModelForCausalLM, PreTrainedModel

from medusa_chat.bench.peer_serving import Answer, reply, serve

NODES = 4
"""Size of the fixed tree, root included: of 2, 3, 4, 6, 8, 12 and 16 the one that gave the default model most tokens a
second of processor time; its steps grow dear with every node."""


@dataclass(frozen=True)
class GivenHeadsConfig(MedusaConfig):
    """As the package's own, for heads whose arithmetic is `GivenHeads`'."""

    technique: ClassVar[str] = "given_heads"


@economize.register_technique
class GivenHeads(MedusaTechnique):
    """Residual blocks as the package has them; what goes into them and what reads them is this project's."""

    name = GivenHeadsConfig.technique
    config_class = GivenHeadsConfig

    def take(self, tensors: Mapping[str, Tensor]) -> None:
        """Read all from a file of heads, by the names `medusa_chat.heads.store` gives them."""
        layers = self.config.num_layers
        for number, head in enumerate(self.heads):
            for layer, block in enumerate(head.blocks):
                block.linear.weight.data.copy_(tensors[f"{number}.{layer}.linear.weight"])
                block.linear.bias.data.copy_(tensors[f"{number}.{layer}.linear.bias"])
        self.token_map: Tensor | None = tensors.get("token_map")
        self.root: Tensor | None = tensors["root.weight"].float() if "root.weight" in tensors else None
        own = [tensors.get(f"{number}.{layers}.weight") for number in range(len(self.heads))]
        shared = self.adapter.lm_head.weight.detach()
        shared = shared if self.token_map is None else shared[self.token_map]
        self.outputs = [shared if output is None else output.float() for output in own]
        self.one_output = own[0] is None

    def head_logits(self, hidden: Tensor, count: int | None = None) -> Tensor:
        """[1, hidden_size] before the final norm -> [1, count, tokens the heads know]."""
        seen: Tensor = self.adapter.final_norm(hidden)
        if self.root is not None:
            embedding = self.adapter.embed_tokens(self.roots)
            seen = seen + rms_norm(embedding, embedding.shape[-1:], eps=1e-6) @ self.root.T
        states = torch.stack([head.hidden(seen) for head in self.heads[:count]], dim=-2)
        if self.one_output:
            return states @ self.outputs[0].T
        rows = states.unbind(-2)
        return torch.stack([row @ output.T for row, output in zip(rows, self.outputs, strict=False)], dim=-2)

    def drafter(self, runner: Any) -> GivenHeadsDrafter:
        return GivenHeadsDrafter(self)


class GivenHeadsDrafter(MedusaDrafter):
    """The package's drafter, which tells the heads the root and turns columns of their output into tokens."""

    def propose(self, request: Any) -> Any:
        self.technique.roots = request.tokens
        draft = super().propose(request)
        if self.technique.token_map is None or not draft.width:
            return draft
        return replace(draft, tokens=self.technique.token_map[draft.tokens])


def attach(model: PreTrainedModel, heads: Path) -> Any:
    """The model with the heads in `heads` as the package's Medusa drafts: a fixed tree, verified in one pass."""
    tensors = load_file(heads / "medusa_lm_head.safetensors")
    blocks = [key.split(".")[:2] for key in tensors if key.endswith(".linear.weight")]
    count, layers = (1 + max(int(block[place]) for block in blocks) for place in (0, 1))
    config = GivenHeadsConfig(num_heads=count, num_layers=layers, head="shared", tree=_tree(heads, count))
    decoding = economize.DecodeConfig(cycle_length=1 + max(len(path) for path in config.tree))
    attached = economize.apply(model, config, decoding=decoding)
    attached.drafting_technique.take(tensors)
    return attached


def _tree(heads: Path, count: int) -> tuple[tuple[int, ...], ...]:
    """The best of its size on held-out answers where that was calibrated, else each head's first guess."""
    try:
        trees = json.loads((heads / "calibration.json").read_text(encoding="utf-8"))["trees"]
    except FileNotFoundError:
        trees = {}
    chain = [[0] * depth for depth in range(1, count + 1)]
    return tuple(tuple(path) for path in trees.get(str(NODES), chain))


def decode(model: Any, prompt_ids: Sequence[int], max_tokens: int, eos_ids: Sequence[int]) -> dict[str, Any]:
    """One greedy answer; every pass over the model is noted, the first of which reads the prompt."""
    passes: list[tuple[float, Any]] = []
    watch = model.add_verify_observer(lambda event: passes.append((perf_counter(), event)))
    began = perf_counter()
    result = model.decode(torch.tensor(prompt_ids), max_tokens, stop=list(eos_ids))
    watch.remove()
    first = passes[0][0]
    return reply(
        result.tokens.tolist(),
        eos_ids,
        with_prompt=1,
        steps=len(passes) - 1,
        seconds=passes[-1][0] - first,
        prefill_seconds=first - began,
    )


def load(arguments: Namespace) -> tuple[Answer, dict[str, Any]]:
    torch.set_num_threads(arguments.threads)
    model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(arguments.weights, dtype=torch.float32)
    model.eval()  # type: ignore[no-untyped-call]
    attached = attach(model, Path(arguments.heads))
    tree = attached.drafting_technique.config.tree
    about = {"economize": economize.__version__, "precision": "float32", "tree": tree}
    return partial(decode, attached), about


def main() -> None:
    parser = ArgumentParser()
    parser.add_argument("--weights", required=True)
    parser.add_argument("--heads", required=True)
    parser.add_argument("--threads", type=int, required=True)
    serve(parser, load)


if __name__ == "__main__":
    main()
