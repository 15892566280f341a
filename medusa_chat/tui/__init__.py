"""App, screens, widgets, styles. Knows host.client, catalog and settings; never imports torch."""

import os

# Textual reads it when it is imported, which everything in here does later. Behind a long frame it waits up to two periods
# before the next: with its own 60 a second, a key that came meanwhile was seen up to 33 ms later.
os.environ.setdefault("TEXTUAL_FPS", "120")
