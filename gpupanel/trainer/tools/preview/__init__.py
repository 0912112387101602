"""What is in the data and the model file that a profile names."""
