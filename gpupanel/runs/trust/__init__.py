"""Python code of the person's own: which of it a profile or a run names, and what is trusted."""
