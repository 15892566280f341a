"""How heads' guesses become a candidate tree: fixed rank paths, Cartesian product, best nodes first."""
