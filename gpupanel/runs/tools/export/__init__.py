"""Runs as scripts, notebooks, reports and batch scripts, and their models for other programs."""
