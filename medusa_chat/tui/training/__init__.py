"""A training run, watched while it writes its folder."""
