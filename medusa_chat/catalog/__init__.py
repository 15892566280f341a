"""Model cards, where weights come from, download with progress, does-it-fit."""
