"""Sweeps: a folder each, whose trials the queue starts and whose record only grows."""
