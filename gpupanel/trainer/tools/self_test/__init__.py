"""Tests devices before a long run: sums over replicas, copies, memory, a step of the model."""
