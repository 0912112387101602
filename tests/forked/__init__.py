"""Processes that need TensorFlow and do not import it themselves."""
