"""The range test of the learning rate."""
