"""What Keras publishes: which of its files are in its cache, and their download."""
