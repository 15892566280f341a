"""The closer measurements, on a random model: what they count and what they leave behind."""

from __future__ import annotations

from math import exp, log

import pytest
import torch
from doubles.small_backbone import small_backbone

from medusa_chat.bench.context import context_costs, tree_of
from medusa_chat.bench.drift import drift
from medusa_chat.bench.profile import Operator, Profile, profile
from medusa_chat.bench.turns import Turn, converse, growth, turn_figures
from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.options import Decoding
from medusa_chat.host.session import Session
from medusa_chat.training.conversations import Conversation

PROMPT = [3, 50, 60, 70, 80, 90]


def test_context_is_measured_as_far_as_the_model_holds_it_with_the_largest_tree(session: Session):
    told = []
    costs = list(context_costs(session.backbone, (1, 8), on_progress=lambda done, total: told.append((done, total))))
    assert [cost.rows for cost in costs] == [100, 500]
    assert all(set(cost.step_ms) == {1, 8} and min(cost.step_ms.values()) > 0 for cost in costs)
    first, second = costs
    assert second.read_seconds - first.read_seconds == pytest.approx(400 / second.read_tokens_per_second)
    assert told[-1] == (400, 400)
    assert session.backbone.length == 0


def test_a_tree_that_does_not_fit_behind_the_shortest_context_measures_nothing(session: Session):
    assert list(context_costs(session.backbone, (1, 8), lengths=(505,))) == []


def test_the_measured_tree_branches():
    assert tree_of(5).parent_nodes == (-1, 0, 0, 1, 1)
    assert tree_of(1).parent_nodes == (-1,)


def test_a_conversation_reads_only_what_is_new(session: Session):
    first, second, third = converse(session, Decoding("plain"), 3, 8)
    assert (first.turn, third.turn) == (1, 3)
    assert first.read_tokens == first.prompt_tokens - 1
    for before, turn in ((first, second), (second, third)):
        assert turn.prompt_tokens > before.prompt_tokens
        # The answer before is in the cache unless its text is cut into other tokens.
        assert 0 < turn.read_tokens <= turn.prompt_tokens - before.prompt_tokens
        assert turn.first_token_seconds > 0


def test_each_conversation_begins_with_an_empty_cache(session: Session):
    first, again = (list(converse(session, Decoding("plain"), 2, 8)) for _ in range(2))
    assert [turn.read_tokens for turn in first] == [turn.read_tokens for turn in again]


def test_a_conversation_the_model_cannot_hold_is_refused(session: Session):
    with pytest.raises(MedusaError, match=r"^9 turns of 90 tokens .* context holds 512; ask for fewer"):
        list(converse(session, Decoding("plain"), 9, 90))


def test_figures_of_turns_are_medians_and_growth_is_the_last_over_the_second():
    def conversation(*seconds: float) -> list[Turn]:
        return [Turn(number, 10 * number, 10, value) for number, value in enumerate(seconds, start=1)]

    figures = turn_figures([conversation(9, 1.0, 2), conversation(9, 2.0, 3), conversation(9, 9.0, 40)])
    assert [one.first_token_seconds for one in figures] == [9, 2.0, 3]
    assert growth(figures) == 1.5
    assert growth(figures[:2]) is None


def test_the_profile_names_operators_and_leaves_the_backbone_as_it_was(session: Session):
    found = profile(session, Decoding("medusa", budget=4), PROMPT, 12)
    assert found.steps >= 1
    assert 1 <= found.nodes <= 4
    assert set(found.step_ms) >= {"draft", "verify", "accept", "commit", "rest"}
    assert any(operator.name.startswith("aten::") for operator in found.operators)
    assert not any("medusa_chat" in operator.name for operator in found.operators)
    assert all(operator.calls > 0 for operator in found.operators)
    times = [operator.ms for operator in found.operators]
    assert times == sorted(times, reverse=True)
    assert 0 <= found.verify_in_operators_ms <= found.in_operators_ms
    assert "verify" not in vars(session.backbone)


def test_an_answer_of_one_step_has_no_profile(session: Session):
    assert profile(session, Decoding("plain"), PROMPT, 1) is None


def test_what_is_no_operator_is_the_pass_or_python():
    operators = [Operator("aten::mm", 6.0, 0.0, 10.0), Operator("aten::topk", 1.0, 0.0, 1.0)]
    found = Profile(4.0, 9, "lean", {"draft": 3.0, "verify": 10.0, "rest": 1.0}, operators, 6.0, {})
    assert (found.total_ms, found.verify_outside_ms, found.python_ms) == (14.0, 4.0, 3.0)
    assert found.in_operators_ms + found.verify_outside_ms + found.python_ms == found.total_ms


def logits(backbone: Backbone, text: Conversation) -> torch.Tensor:
    """Of each token of the answer, by one whole pass."""
    ids = torch.tensor([text.ids])
    backbone.model.set_attn_implementation("eager")
    with torch.no_grad():
        rows = backbone.model(ids).logits[0].double().log_softmax(dim=1)
    return torch.cat([rows[start - 1 : end - 1] for start, end in text.answers])


def answers(count: int, length: int) -> list[Conversation]:
    ids = torch.randint(0, 120, (count, length + 5), generator=torch.Generator().manual_seed(1)).tolist()
    return [Conversation.single(row[:5], row[5:]) for row in ids]


def test_drift_is_what_whole_passes_say():
    texts = [*answers(1, 70), Conversation(tuple(range(5, 85)), ((4, 50), (60, 80))), *answers(1, 3)]
    found = drift(small_backbone(seed=3), small_backbone(seed=4), texts)
    left = torch.cat([logits(small_backbone(seed=3), text) for text in texts])
    right = torch.cat([logits(small_backbone(seed=4), text) for text in texts])
    said = torch.tensor([token for text in texts for start, end in text.answers for token in text.ids[start:end]])[
        :, None
    ]
    assert found.tokens == 70 + 66 + 3
    assert found.kl == pytest.approx(float((left.exp() * (left - right)).sum(dim=1).mean()), rel=1e-4)
    assert found.kl_p99 > found.kl > 0
    assert log(found.perplexity) == pytest.approx(-float(right.gather(1, said).mean()), rel=1e-4)
    assert log(found.reference_perplexity) == pytest.approx(-float(left.gather(1, said).mean()), rel=1e-4)
    assert found.agreement == float((left.argmax(1) == right.argmax(1)).double().mean()) < 1


def test_the_same_weights_do_not_drift():
    told = []
    found = drift(small_backbone(), small_backbone(), answers(3, 9), lambda done, total: told.append((done, total)))
    assert found.kl == pytest.approx(0.0, abs=1e-9)
    assert found.agreement == 1.0
    assert found.perplexity == pytest.approx(found.reference_perplexity)
    assert found.perplexity > exp(1)
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_an_answer_longer_than_the_context_is_read_as_far_as_it_goes():
    one, other = small_backbone(), small_backbone()
    one.context = other.context = 20
    assert drift(one, other, answers(1, 100)).tokens == 16
