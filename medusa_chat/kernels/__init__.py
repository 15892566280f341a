"""Linear layers for few rows, each with a reference and a self-check."""
