"""The comparison: one prompt, two or three lanes, one clock."""
