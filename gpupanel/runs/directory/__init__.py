"""What stands in a run's directory, and how it is read and written."""
