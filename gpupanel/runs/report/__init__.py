"""A run's report: one HTML file that needs nothing else, to keep, to send and to print."""
