"""Conversations on disk: one SQLite file, written while answers stream; search, export and import."""
