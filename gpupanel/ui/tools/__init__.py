"""Tools beside training: the dialog of each, and what connects it with the window."""
