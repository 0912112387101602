"""What TensorFlow, devices and data allow: each rule a problem with its code and its fixes."""
