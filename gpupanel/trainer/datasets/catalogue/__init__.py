"""Data sets of the catalogue of tensorflow-datasets."""
