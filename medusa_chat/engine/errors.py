"""The one exception a person is meant to read."""

from __future__ import annotations


class MedusaError(Exception):
    """Something the person can act on: one plain sentence that names the thing and the way out.

    Every layer lets it pass unchanged; the outermost one prints `str(error)` and nothing else.
    """
