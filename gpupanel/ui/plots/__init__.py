"""Curves: ring buffers, decimation, and plots on one linked time axis."""
