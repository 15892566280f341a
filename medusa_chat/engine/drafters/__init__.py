"""Whatever proposes a candidate tree: nothing, Medusa heads, prompt lookup."""
