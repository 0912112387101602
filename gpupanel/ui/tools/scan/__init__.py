"""The scan of the data."""
