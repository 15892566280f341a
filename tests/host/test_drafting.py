"""Each decoder gets its drafter; those of one answer share what they learn of its text."""

from __future__ import annotations

from pathlib import Path

import pytest
from doubles.tiny_models import save_tiny_model

from medusa_chat.engine.drafters.joint import Joint
from medusa_chat.engine.drafters.medusa import Medusa
from medusa_chat.engine.drafters.plain import Plain
from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.options import DECODERS, Decoding, Limits, Sampling
from medusa_chat.host.drafting import Drafters
from medusa_chat.host.session import Session

PROMPT = [{"role": "user", "content": "Count as far as you can."}]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    folder: Path = tmp_path_factory.mktemp("model")
    return Session.open(str(save_tiny_model(folder, heads=3)), quantize="none")


def test_every_decoder_has_its_drafter(session: Session) -> None:
    drafters = Drafters(session.model, session.heads, None, {})
    chosen = {name: drafters.choose(Decoding(name), 8) for name in DECODERS}
    assert isinstance(chosen["plain"], Plain)
    assert isinstance(chosen["medusa"], Medusa)
    joint, lookup, recycle = chosen["joint"], chosen["lookup"], chosen["recycle"]
    assert isinstance(joint, Joint)
    assert isinstance(lookup, Joint)
    assert isinstance(recycle, Joint)
    assert None not in (joint.heads, joint.lookup, joint.recycling)
    assert (lookup.heads, lookup.recycling) == (recycle.heads, recycle.lookup) == (None, None)
    assert lookup.lookup is joint.lookup
    assert recycle.recycling is not joint.recycling
    assert drafters.choose(Decoding("joint"), 8).recycling is joint.recycling  # type: ignore[attr-defined]


def test_heads_and_top_k_reach_the_joint_drafter(session: Session) -> None:
    drafter = Drafters(session.model, session.heads, None, {}).choose(Decoding(heads=2, top_k=3), 8)
    assert isinstance(drafter, Joint)
    assert drafter.heads is not None
    assert (drafter.heads.count, drafter.heads.top_k) == (2, 3)


def test_without_heads_joint_does_what_the_others_can(session: Session) -> None:
    drafters = Drafters(session.model, None, None, {})
    joint = drafters.choose(Decoding(), 8)
    assert isinstance(joint, Joint)
    assert joint.heads is None
    assert None not in (joint.lookup, joint.recycling)
    with pytest.raises(MedusaError, match="no Medusa heads"):
        drafters.choose(Decoding("medusa"), 8)


@pytest.mark.parametrize("decoder", DECODERS)
def test_every_decoder_writes_the_same_answer_and_names_its_sources(session: Session, decoder: str) -> None:
    session.backbone.eos_ids = frozenset()

    def answer(name: str) -> tuple[list[int], set[str]]:
        decoding = Decoding(name, budget=6)  # type: ignore[arg-type]
        steps = list(session.start(session.prompt_ids(PROMPT), Sampling(), decoding, Limits(max_tokens=40)))
        sources = {source for step in steps for source in step.tree.sources[1:]}
        return [token for step in steps for token in step.tokens], sources

    tokens, sources = answer(decoder)
    assert tokens == answer("plain")[0]
    heads = {f"head {number}" for number in (1, 2, 3)}
    allowed = {"plain": set(), "medusa": heads, "lookup": {"lookup"}, "recycle": {"recycle"}}
    assert sources <= allowed.get(decoder, {*heads, "lookup", "recycle"})
    assert bool(sources) == (decoder != "plain")
