"""The one loop: which examples, in which order, through which compiled calls."""
