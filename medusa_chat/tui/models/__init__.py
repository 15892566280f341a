"""Models: what there is, what fits, bringing weights here, and changing the loaded one."""
