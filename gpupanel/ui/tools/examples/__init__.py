"""Examples of the run that is shown."""
