"""The search for the batch."""
