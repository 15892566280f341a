"""Shared by all tests. Being here it also puts this folder on the import path: `from doubles.... import ...` works."""
