"""A desktop control panel for training TensorFlow models on every GPU of a workstation."""

__version__ = "0.2.0"
