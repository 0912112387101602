"""Runs and their models, exported."""
