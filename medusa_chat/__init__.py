"""Medusa Chat: a local language model in the terminal, sped up by Medusa heads you can watch at work."""

__version__ = "0.1.0"
