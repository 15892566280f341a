"""From the engine's steps to the records that travel: tensors to tuples, token ids to texts."""

from __future__ import annotations

from transformers import PreTrainedTokenizerBase

from medusa_chat.engine.step import Beliefs, Step
from medusa_chat.engine.text.token_text import piece
from medusa_chat.engine.tree import CandidateTree
from medusa_chat.host.messages import BeliefRecord, RejectionRecord, StepRecord, TreeRecord


def step_record(step: Step, tokenizer: PreTrainedTokenizerBase) -> StepRecord:
    return StepRecord(
        index=step.index,
        tree=_tree_record(step.tree, tokenizer),
        path=step.path,
        tokens=step.tokens,
        text=step.text,
        draft_ms=step.ms.draft,
        verify_ms=step.ms.verify,
        accept_ms=step.ms.accept,
        commit_ms=step.ms.commit,
        text_ms=step.ms.text,
        reasons=tuple(
            RejectionRecord(reason.node, reason.probability, reason.needed, reason.entropy) for reason in step.reasons
        ),
        finish=step.finish,
        plain_ms=step.plain_ms,
        beliefs=None if step.beliefs is None else _belief_record(step.beliefs, tokenizer),
    )


def _tree_record(tree: CandidateTree, tokenizer: PreTrainedTokenizerBase) -> TreeRecord:
    return TreeRecord(
        tokens=tree.token_ids,
        parents=tree.parent_nodes,
        scores=tree.probabilities,
        texts=tuple(piece(tokenizer, token) for token in tree.token_ids),
        sources=tree.sources,
    )


def _belief_record(beliefs: Beliefs, tokenizer: PreTrainedTokenizerBase) -> BeliefRecord:
    return BeliefRecord(
        probabilities=beliefs.probabilities,
        entropies=beliefs.entropies,
        favourites=tuple(piece(tokenizer, token) for token in beliefs.favourites),
        certainties=beliefs.certainties,
    )
