"""Traces of the run that is shown."""
