"""What a measurement is about: the model, its weights, its precision and the way it is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from medusa_chat.host.session import Session


def describe_subject(session: Session) -> dict[str, Any]:
    """JSON values for the settings of a report."""
    backbone = session.backbone
    return {
        "model": session.model,
        "quantize": session.quantize,
        "fingerprint": backbone.fingerprint(),
        "precision": backbone.weight_type,
        "forward": backbone.forward_name,
    }
