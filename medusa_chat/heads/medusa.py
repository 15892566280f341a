"""Medusa heads: small residual networks that guess, from one hidden state, the tokens after the next one."""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor, nn

from medusa_chat.engine.drafters.guesses import Guesses
from medusa_chat.kernels.native.heads import NativeHeads
from medusa_chat.kernels.native.weights import BLOCK
from medusa_chat.kernels.packed import PackedLinear, packing_works


class MedusaHeads(nn.Module):
    """K heads of n residual blocks, x + SiLU(W x + b), run as one batched product per layer.

    Block as in the Medusa paper, section 3.1. Own and shared output layers as in the published files: `output`
    [vocab, hidden_size] belongs to the backbone and serves all heads; [heads, vocab, hidden_size] is each head's own.

    With a `token_map` [vocab] int64 the heads know only those tokens: column c of their output means token
    `token_map[c]` (the idea of FR-Spec, arXiv 2502.14856; nothing is lost but drafts, the backbone checks with all).

    With an `embedding` the heads also see the root: its embedding, brought to unit scale and multiplied by `root_weight`,
    is added to the hidden state. The root is certain before heads are asked, so this costs no pass of its own (Hydra,
    arXiv 2402.05109, goes on from there: it feeds each head the guesses of those before it).
    """

    weights: nn.Parameter
    """[layers, heads, hidden_size, hidden_size]"""
    biases: nn.Parameter
    """[layers, heads, hidden_size]"""
    output: Tensor
    token_map: Tensor | None
    root_weight: nn.Parameter | None
    """[hidden_size, hidden_size]; None for heads that do not see the root."""
    embedding: Tensor | None
    """[vocab_size, hidden_size], the backbone's; None likewise."""

    def __init__(
        self,
        weights: Tensor,
        biases: Tensor,
        output: Tensor,
        token_map: Tensor | None = None,
        *,
        root_weight: Tensor | None = None,
        embedding: Tensor | None = None,
    ) -> None:
        super().__init__()
        self.weights = nn.Parameter(weights)
        self.biases = nn.Parameter(biases)
        if output.dim() == 3:
            self.output = nn.Parameter(output)
        else:
            self.register_buffer("output", output, persistent=False)
        self.register_buffer("token_map", token_map)
        self.root_weight = None if root_weight is None else nn.Parameter(root_weight)
        self.register_buffer("embedding", embedding, persistent=False)
        self.dropout = 0.0
        """Share of each block's outputs that training leaves out."""
        self._project: PackedLinear | None = None
        self._native: NativeHeads | None = None

    @classmethod
    def fresh(
        cls,
        output: Tensor,
        count: int = 4,
        layers: int = 1,
        *,
        own_output: bool = False,
        token_map: Tensor | None = None,
        embedding: Tensor | None = None,
    ) -> MedusaHeads:
        """Untrained heads, each of which repeats the backbone's own guess exactly.

        Args:
            output: [vocab_size, hidden_size], the weight of the backbone's output layer.
            embedding: [vocab_size, hidden_size], the backbone's, for heads that see the root.
        """
        hidden_size = output.shape[1]
        shared = restrict(output, token_map)
        return cls(
            torch.zeros(layers, count, hidden_size, hidden_size, dtype=torch.float32, device=output.device),
            torch.zeros(layers, count, hidden_size, dtype=torch.float32, device=output.device),
            shared.expand(count, -1, -1).clone() if own_output else shared,
            token_map,
            root_weight=None if embedding is None else torch.zeros(hidden_size, hidden_size, device=output.device),
            embedding=embedding,
        )

    @property
    def count(self) -> int:
        return int(self.weights.shape[1])

    @property
    def layers(self) -> int:
        return int(self.weights.shape[0])

    @property
    def own_output(self) -> bool:
        return self.output.dim() == 3

    @property
    def sees_root(self) -> bool:
        return self.root_weight is not None

    def forward(self, hidden: Tensor, roots: Tensor, heads: int | None = None) -> Tensor:
        """The heads' states [heads, rows, hidden_size], before the output layer.

        Args:
            hidden: [rows, hidden_size].
            roots: [rows] int64, the token after each hidden state.
        """
        heads = self.count if heads is None else heads
        if self.root_weight is not None and self.embedding is not None:
            seen = nn.functional.rms_norm(self.embedding[roots].to(hidden.dtype), hidden.shape[-1:], eps=1e-6)
            hidden = hidden + seen @ self.root_weight.T
        states = hidden.expand(heads, *hidden.shape)
        for weight, bias in zip(self.weights, self.biases, strict=True):
            inner = torch.baddbmm(bias[:heads, None], states, weight[:heads].transpose(1, 2))
            states = states + nn.functional.dropout(nn.functional.silu(inner), self.dropout, self.training)
        return states

    def logits(self, states: Tensor) -> Tensor:
        """[heads, rows, hidden_size] -> [heads, rows, vocab], columns as in `token_map`."""
        output = self.output[: len(states)].transpose(1, 2) if self.own_output else self.output.T
        return states @ output

    @torch.inference_mode()
    def guess(self, hidden: Tensor, root: int, heads: int, top_k: int) -> Guesses:
        """The `top_k` best tokens of the first `heads` heads (fewer where there are no more) from one row.

        Args:
            hidden: [hidden_size] in the heads' dtype, on their device; of the token before the root.
        """
        heads = min(heads, self.count)
        if self._native is not None:
            # Heads that do not see the root read nothing of the second row.
            seen = hidden if self.embedding is None else self.embedding[root]
            columns, odds = self._native(hidden, seen, heads, min(top_k, self.output.shape[0]))
            return Guesses(columns.long() if self.token_map is None else self.token_map[columns], odds)
        states = self(hidden[None], torch.tensor([root], device=hidden.device), heads)
        scores = self.logits(states)[:, 0] if self._project is None else self._project(states[:, 0])
        odds, columns = scores.float().softmax(dim=-1).topk(min(top_k, scores.shape[-1]), dim=-1)
        tokens = columns if self.token_map is None else self.token_map[columns]
        return Guesses(tokens.cpu(), odds.cpu())

    def freeze(self, library: ctypes.CDLL | None = None) -> MedusaHeads:
        """For decoding only: no gradients; with a shared float32 output layer on the CPU in native code where there is
        some (weights rounded to 4 bits: guesses are checked anyway), else with that layer packed for few rows."""
        self.eval().requires_grad_(False)
        output = self.output
        on_cpu = not self.own_output and output.dtype == torch.float32 and output.device.type == "cpu"
        if on_cpu and library is not None and output.shape[1] % BLOCK == 0:
            self._native = NativeHeads(library, self.weights, self.biases, output, self.root_weight)
        elif on_cpu and packing_works():
            linear = nn.Linear(output.shape[1], output.shape[0], bias=False, device="meta")
            linear.weight = nn.Parameter(output, requires_grad=False)
            self._project = PackedLinear(linear, keep_weight=False)
        return self


def restrict(output: Tensor, token_map: Tensor | None) -> Tensor:
    """The rows of an output layer that belong to `token_map`, contiguous; all of them, uncopied, without one."""
    weight = output.detach()
    return weight if token_map is None else weight[token_map.to(weight.device)].contiguous()
