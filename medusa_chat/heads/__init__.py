"""Head modules, their files, and how they attach to a backbone."""
