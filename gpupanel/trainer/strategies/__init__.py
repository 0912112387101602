"""How TensorFlow divides the work over devices and processes."""
