"""Comparing devices and divisions of one training by short runs of each, which leave nothing."""
