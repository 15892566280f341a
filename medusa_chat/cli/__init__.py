"""One file a command; heavy parts are imported only when the command runs."""
