"""Keras models as profiles name them; they take raw features, scaling is their first layer."""
