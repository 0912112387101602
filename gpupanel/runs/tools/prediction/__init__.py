"""The model of a run asked about single examples, by a process that keeps it loaded."""
