"""Medusa heads: the modules, their files, and attaching them to a backbone."""

from medusa_chat.heads.medusa import MedusaHeads
from medusa_chat.heads.store import LoadedHeads, load_heads, save_heads

__all__ = ["LoadedHeads", "MedusaHeads", "load_heads", "save_heads"]
