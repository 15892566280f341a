"""Bytes as a person reads them."""

from __future__ import annotations


def size(count: int) -> str:
    """92.9 MB, 1.60 GB: powers of ten, as disks and download pages count."""
    return f"{count / 1e9:.2f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"
