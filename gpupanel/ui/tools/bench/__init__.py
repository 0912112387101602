"""The comparison of devices."""
