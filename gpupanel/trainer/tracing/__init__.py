"""TensorFlow's profiler over some steps of a training, and what its trace says."""
