"""TFRecord files: what stands in them, and how examples are read from them row by row."""
