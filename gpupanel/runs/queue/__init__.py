"""Runs that wait for devices, and the small process that starts them when their turn comes."""
