"""Which token each head answers for at each place, and which places are left out."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from medusa_chat.training.conversations import Conversation
from medusa_chat.training.hidden import HiddenStates
from medusa_chat.training.loss import CHUNK, sparse_loss, teacher_loss
from medusa_chat.training.targets import Targets, build_targets, frequent_tokens

EOS = 1
CONVERSATIONS = [([10, 11, 12], [20, 21, EOS]), ([13, 14], [20, 21, EOS]), ([15], [22, 23])]
"""Prompt and answer; two answers are the same, the last was cut off before its end token."""
TOKENS = [token for prompt, answer in CONVERSATIONS for token in (*prompt, *answer)]


def states() -> HiddenStates:
    torch.manual_seed(1)
    return HiddenStates(
        hidden=torch.randn(len(TOKENS), 8).half(),
        tokens=torch.tensor(TOKENS),
        lengths=torch.tensor([len(prompt) + len(answer) for prompt, answer in CONVERSATIONS]),
        left=torch.tensor([left for each in CONVERSATIONS for left in Conversation.single(*each).left()]),
    )


def targets(token_map: Tensor | None = None) -> Targets:
    output = torch.randn(32, 8)
    return build_targets(states(), output if token_map is None else output[token_map], token_map, 32)


def labels(which: Targets, heads: int) -> list[list[int | None]]:
    """[heads][places]: the label by the batch that training gets, None where there is none."""
    batch = which.batch(torch.arange(len(TOKENS)), heads, soft_share=0.0)
    columns, mass = batch.columns, batch.mass
    return [
        [int(columns[head, place, 0]) if mass[head, place, 0] else None for place in range(len(TOKENS))]
        for head in range(heads)
    ]


def test_labels_are_answer_tokens_with_the_end_token_and_nothing_past_the_end() -> None:
    none = None
    assert labels(targets(), 3) == [
        # place: 10    11  12  20   21    1     13  14  20   21    1     15  22    23
        [none, 20, 21, EOS, none, none, 20, 21, EOS, none, none, 23, none, none],
        [none, 21, EOS, none, none, none, 21, EOS, none, none, none, none, none, none],
        [none, EOS, none, none, none, none, EOS, none, none, none, none, none, none, none],
    ]


def test_labels_stay_within_the_answer_the_root_stands_in() -> None:
    none = None
    ids = (10, 11, 20, 21, EOS, 12, 13, 20, 21, EOS)
    said = Conversation(ids, ((2, 5), (7, 10)))
    seen = HiddenStates(torch.randn(10, 8).half(), torch.tensor(ids), torch.tensor([10]), torch.tensor(said.left()))
    which = build_targets(seen, torch.randn(32, 8), None, 32)
    batch = which.batch(torch.arange(10), 2, soft_share=0.0)
    columns, mass = batch.columns, batch.mass
    rows = [[int(columns[head, at, 0]) if mass[head, at, 0] else None for at in range(10)] for head in (0, 1)]
    # Never a token of the person's (12, 13), and no answer is foretold from within the one before.
    assert rows == [
        [20, 21, EOS, none, none, 20, 21, EOS, none, none],
        [21, EOS, none, none, none, 21, EOS, none, none, none],
    ]
    assert which.positions().tolist() == [0, 1, 2, 5, 6, 7]


def test_training_visits_the_places_with_a_label_and_no_others() -> None:
    assert targets().positions().tolist() == [1, 2, 3, 6, 7, 8, 11]


def test_tokens_unknown_to_the_heads_are_no_label() -> None:
    token_map = torch.tensor([EOS, 20, 23])
    one = labels(targets(token_map), 1)[0]
    assert one == [None, 1, None, 0, None, None, 1, None, 0, None, None, 2, None, None]


def test_soft_targets_are_the_backbones_own_at_the_place_before_the_label() -> None:
    torch.manual_seed(4)
    output = torch.randn(32, 8)
    built = build_targets(states(), output, None, 32)
    batch = built.batch(torch.tensor([1]), 2, soft_share=1.0)
    columns, mass = batch.columns, batch.mass
    for head in (0, 1):
        # The label of head k (from 0) at place 1 stands at place 3 + k; the backbone foretold it at place 2 + k.
        wanted = (states().hidden[2 + head].float() @ output.T).softmax(dim=-1)
        got = torch.zeros(32).index_add_(0, columns[head, 0, 1:], mass[head, 0, 1:])
        kept = got > 0
        torch.testing.assert_close(got[kept], wanted[kept], atol=2e-3, rtol=1e-2)
        assert float(wanted[~kept].sum()) < 0.1
    assert float(mass[:, :, 0].sum()) == 0


def test_hard_and_soft_share_one_unit_of_mass() -> None:
    built = targets()
    mass = built.batch(torch.tensor([1, 2]), 1, soft_share=0.25).mass
    torch.testing.assert_close(mass[..., 0], torch.full((1, 2), 0.75))
    torch.testing.assert_close(mass[..., 1:].sum(-1), 0.25 * built.teacher_odds[[2, 3]].float().sum(-1)[None])


def test_the_vocabulary_is_counted_on_answers_and_never_loses_the_end_token() -> None:
    assert frequent_tokens(states(), 3, frozenset({EOS}), 32).tolist() == [EOS, 20, 21]
    assert frequent_tokens(states(), 2, frozenset({30}), 32)[1] == 30
    assert frequent_tokens(states(), 99, frozenset(), 32).tolist() == list(range(32))


def test_the_acceptance_loss_takes_its_share_where_there_is_something_to_answer() -> None:
    built = targets()
    batch = built.batch(torch.tensor([1, 3]), 2, soft_share=0.5, acceptance_share=0.4)
    assert batch.overlap.tolist() == [[pytest.approx(0.4)] * 2, [pytest.approx(0.4), 0.0]]
    torch.testing.assert_close(batch.odds[0, 0, 1:], built.teacher_odds[2].float())
    assert not batch.odds[1, 1].any()
    torch.testing.assert_close(batch.mass[0, 0, 0], torch.tensor(0.3))


def test_chunked_loss_and_gradients_are_those_of_the_definition() -> None:
    torch.manual_seed(6)
    rows = CHUNK + 9
    here = torch.randn(rows, 8, requires_grad=True)
    output = torch.randn(20, 8, requires_grad=True)
    columns = torch.stack([torch.randperm(20)[:4] for _ in range(rows)])
    columns[:, 0] = torch.randint(20, (rows,))
    mass = torch.rand(rows, 4) * (torch.arange(rows) % 5 > 0)[:, None]
    odds = torch.cat([torch.zeros(rows, 1), torch.rand(rows, 3) / 3], dim=1)
    overlap = torch.rand(rows) * (torch.arange(rows) % 3 > 0)
    loss = 3 * sparse_loss(here, output, columns, mass, odds, overlap)
    grads = torch.autograd.grad(loss, [here, output])
    chances = (here @ output.T).softmax(-1).gather(-1, columns)
    kept = torch.minimum(odds, chances).sum(-1)
    wanted = -3 * ((mass * chances.log()).sum() + (overlap * kept.log()).sum())
    torch.testing.assert_close(loss, wanted)
    for got, right in zip(grads, torch.autograd.grad(wanted, [here, output]), strict=True):
        torch.testing.assert_close(got, right, atol=1e-4, rtol=1e-4)


def test_the_teachers_loss_is_the_divergence_from_it() -> None:
    torch.manual_seed(6)
    here = torch.randn(CHUNK + 3, 8, requires_grad=True)
    teacher, output = torch.randn(CHUNK + 3, 8), torch.randn(20, 8)
    loss = teacher_loss(here, teacher, output)
    (grad,) = torch.autograd.grad(loss, [here])
    old, new = (teacher @ output.T).log_softmax(-1), (here @ output.T).log_softmax(-1)
    wanted = torch.nn.functional.kl_div(new, old, log_target=True, reduction="sum")
    torch.testing.assert_close(loss, wanted)
    torch.testing.assert_close(grad, torch.autograd.grad(wanted, [here])[0], atol=1e-5, rtol=1e-4)
    assert float(teacher_loss(teacher, teacher, output)) == pytest.approx(0.0, abs=1e-4)
