"""What a measurement is about: the model, its weights, its precision and the way it is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from medusa_chat.engine.backbone import Backbone
    from medusa_chat.host.session import Session


def describe_subject(session: Session) -> dict[str, Any]:
    """JSON values for the settings of a report."""
    backbone = session.backbone
    return {
        "model": session.model,
        "quantize": session.quantize,
        "fingerprint": backbone.fingerprint(),
        "precision": precision_of(backbone),
        "forward": backbone.forward_name,
    }


def precision_of(backbone: Backbone) -> str:
    """What the weights are kept in: a name of `--quantize`, or the model's own type."""
    if backbone.precision != "none":
        return backbone.precision
    return str(backbone.dtype).removeprefix("torch.")
