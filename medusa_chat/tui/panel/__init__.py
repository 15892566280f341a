"""The Medusa panel: figures, accepted lengths, the candidate tree, the settings in force."""
