"""A record judged anew keeps what the engine's own rules keep, over random trees and distributions."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
import torch
from doubles.step_records import steps_of

from medusa_chat.engine.acceptance import rule_for
from medusa_chat.engine.beliefs import beliefs
from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.options import Decoding, Sampling
from medusa_chat.engine.sampling import Posterior, Sampler
from medusa_chat.engine.step import Verdict
from medusa_chat.engine.tree import CandidateTree
from medusa_chat.host.messages import BeliefRecord, RejectionRecord, StepRecord, TreeRecord
from medusa_chat.tui.inspector.what_if import what_if

TOKENS = 6


class Case:
    """A random tree with the backbone's logits, and records of it as the engine would leave them."""

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        self.seed = seed
        nodes = draw.randrange(1, 16)
        free = {(parent, token) for parent in range(nodes) for token in range(TOKENS)}
        tokens, parents = [draw.randrange(TOKENS)], [-1]
        while len(tokens) < nodes:
            parent, token = draw.choice(sorted(place for place in free if place[0] < len(tokens)))
            free.remove((parent, token))
            tokens.append(token)
            parents.append(parent)
        self.tree = CandidateTree.build(tokens, parents, [1.0] * nodes)
        self.logits = torch.tensor([[draw.gauss(0.0, 2.0) for _ in range(TOKENS)] for _ in range(nodes)])

    def posterior(self, temperature: float, nodes: int | None = None) -> Posterior:
        tree = self.tree.first(nodes or len(self.tree))
        sampler = Sampler(Sampling(temperature=temperature, seed=self.seed))
        return sampler.posterior([tree.token_ids[0]], tree, self.logits[: len(tree)])

    def record(self, rule: Decoding, temperature: float) -> StepRecord:
        return self.recorded(rule_for(rule).accept(self.posterior(temperature)), temperature)

    def recorded(self, verdict: Verdict, temperature: float) -> StepRecord:
        held = beliefs(self.posterior(temperature))
        tokens = self.tree.token_ids
        return StepRecord(
            index=1,
            tree=TreeRecord(
                tokens, self.tree.parent_nodes, self.tree.probabilities, tuple(map(str, tokens)), self.tree.sources
            ),
            path=verdict.path,
            tokens=(*(tokens[node] for node in verdict.path[1:]), verdict.next_root),
            text="",
            draft_ms=0.0,
            verify_ms=0.0,
            accept_ms=0.0,
            commit_ms=0.0,
            reasons=tuple(RejectionRecord(r.node, r.probability, r.needed, r.entropy) for r in verdict.reasons),
            beliefs=BeliefRecord(
                held.probabilities, held.entropies, tuple(map(str, held.favourites)), held.certainties
            ),
        )


RULES = [
    Decoding(rule="greedy"),
    Decoding(rule="threshold", threshold=0.05),
    Decoding(rule="threshold", threshold=0.3),
    Decoding(rule="typical"),
    Decoding(rule="typical", epsilon=0.4, delta=0.9),
    Decoding(rule="typical", epsilon=0.02, delta=2.0),
]


@pytest.mark.parametrize("made_with", [Decoding(rule="lossless"), Decoding(rule="typical")], ids=lambda each: each.rule)
@pytest.mark.parametrize("wanted", RULES, ids=str)
def test_the_engines_rule_would_have_kept_the_same_path(made_with: Decoding, wanted: Decoding) -> None:
    for seed in range(60):
        case = Case(seed)
        record = case.record(made_with, 1.0)
        for budget in {None, 1, 3, len(case.tree), 40}:
            found = what_if(record, replace(wanted, budget=budget))
            verdict = rule_for(wanted).accept(case.posterior(1.0, budget))
            assert found.path == verdict.path
            assert found.nodes == min(budget or 99, len(case.tree))
            assert found.beyond == max((budget or 0) - len(case.tree), 0)
            assert not found.open
            assert [each.node for each in found.fallen] == [each.node for each in verdict.reasons]
            for fallen, reason in zip(found.fallen, verdict.reasons, strict=True):
                assert fallen.probability == pytest.approx(reason.probability, abs=1e-5)
                assert fallen.needed == pytest.approx(reason.needed, abs=1e-5)
                assert fallen.entropy == pytest.approx(reason.entropy, abs=1e-4)
                if wanted.rule == "greedy":
                    best = case.posterior(1.0).best(record.tree.parents[fallen.node])
                    assert fallen.instead == str(best) != record.tree.texts[fallen.node]


@pytest.mark.parametrize("rule", ["lossless", "typical", "threshold", "greedy"])
def test_at_temperature_zero_every_rule_is_greedy(rule) -> None:
    for seed in range(60):
        case = Case(seed)
        record = case.record(Decoding(), 0.0)
        found = what_if(record, Decoding(rule=rule), greedy=True)
        assert found.path == record.path
        assert found.same
        smaller = what_if(record, Decoding(rule=rule, budget=2), greedy=True)
        assert smaller.path == rule_for(Decoding(rule=rule)).accept(case.posterior(0.0, 2)).path


def test_lossless_keeps_what_was_drawn_and_a_smaller_budget_the_beginning_of_it() -> None:
    shorter = 0
    for seed in range(100):
        case = Case(seed)
        record = case.record(Decoding(), 1.0)
        found = what_if(record, Decoding(), follower="after")
        assert found.path == record.path
        assert found.same
        assert not found.open
        for budget in (1, 2, 5):
            # The same random numbers: what the engine draws along a smaller tree.
            verdict = rule_for(Decoding()).accept(case.posterior(1.0, budget))
            smaller = what_if(record, Decoding(budget=budget), follower="after")
            assert smaller.path == verdict.path
            shorter += len(smaller.path) < len(found.path)
        texts = record.tree.texts
        for fallen in found.fallen:
            siblings = [node for node in found.path if record.tree.parents[node] == record.tree.parents[fallen.node]]
            assert fallen.instead == (texts[siblings[0]] if siblings else "after")
    assert shorter > 10


def test_lossless_says_how_likely_its_path_was_and_what_the_tree_is_worth() -> None:
    case = next(case for case in map(Case, range(100)) if len(case.tree) > 8)
    record = case.record(Decoding(), 1.0)
    draws = [rule_for(Decoding()).accept(_with_seed(case, seed)) for seed in range(4000)]
    found = what_if(record, Decoding())
    assert found.expected == pytest.approx(sum(len(each.path) for each in draws) / len(draws), abs=0.1)
    assert found.chance is not None
    kept = sum(each.path[: len(found.path)] == found.path for each in draws) / len(draws)
    assert found.chance == pytest.approx(kept, abs=0.03)


def _with_seed(case: Case, seed: int) -> Posterior:
    sampler = Sampler(Sampling(temperature=1.0, seed=seed))
    return sampler.posterior([case.tree.token_ids[0]], case.tree, case.logits)


def test_what_a_lossy_rule_kept_was_not_drawn() -> None:
    for seed in range(100):
        case = Case(seed)
        record = case.record(Decoding(rule="threshold", threshold=0.2), 1.0)
        if len(record.path) > 1 and record.reasons:
            found = what_if(record, Decoding())
            assert found.path == (0,)
            assert found.open
            assert all(each.instead is None and each.needed is None for each in found.fallen)
            assert found.chance == 1.0
            return
    raise AssertionError("no such case")


def test_plain_drafts_nothing() -> None:
    record = Case(4).record(Decoding(), 1.0)
    found = what_if(record, Decoding("plain"))
    assert (found.nodes, found.beyond, found.path, found.fallen) == (1, 0, (0,), ())
    assert not found.open


def test_where_the_answer_ended_the_path_had_been_cut() -> None:
    (*_, last) = steps_of("one two three four")
    child = last.tree.parents.index(last.path[-1])
    assert last.beliefs is not None
    tokens = tuple(last.tokens[-1] if node == child else token for node, token in enumerate(last.tree.tokens))
    texts = tuple("<end>" if node == child else text for node, text in enumerate(last.tree.texts))
    held = replace(
        last.beliefs,
        favourites=tuple(
            "<end>" if node == last.path[-1] else each for node, each in enumerate(last.beliefs.favourites)
        ),
        probabilities=tuple(0.99 if node == child else each for node, each in enumerate(last.beliefs.probabilities)),
    )
    record = replace(last, tree=replace(last.tree, tokens=tokens, texts=texts), beliefs=held, reasons=())
    found = what_if(record, Decoding(), greedy=True)
    assert found.path[: len(last.path) + 1] == (*last.path, child)
    assert found.same


def test_a_step_without_beliefs_is_one_sentence() -> None:
    (first, *_) = steps_of("one two three")
    with pytest.raises(MedusaError, match="only newer answers"):
        what_if(replace(first, beliefs=None), Decoding())
