"""The self-test of devices."""
