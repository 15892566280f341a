"""The chat screen and its parts: transcript, composer, status line, help."""
