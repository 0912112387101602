"""Pages of the guide that are made of declarations."""
