"""App, screens, widgets, styles. Knows host.client, catalog and settings; never imports torch."""
