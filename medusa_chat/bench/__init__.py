"""Suites, runs, tables."""
