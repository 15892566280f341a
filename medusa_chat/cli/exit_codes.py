"""How a command ends, for scripts."""

DONE = 0
FAILED = 1
WRONG_USAGE = 2
INTERRUPTED = 130
