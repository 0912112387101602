"""The doctor: can this machine train, on which devices, and what would have to be installed."""
