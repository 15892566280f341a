"""The engine in its own process: messages, child, client; and the session both sides' commands share."""
