"""The terminal: the same things without a window, for people and for scripts."""
