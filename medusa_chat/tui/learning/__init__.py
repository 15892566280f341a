"""Heads that learn from use: when a lesson is begun, the process that does it, and what came of it."""
