"""Traces of a run that goes on: asked for, waited for, read."""
