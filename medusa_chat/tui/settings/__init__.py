"""The settings panel: every engine setting in one table of fields, presets, and what is remembered of them."""
