"""The tasks ``evaluate`` and ``predict``: a saved model on every device shares the data."""
