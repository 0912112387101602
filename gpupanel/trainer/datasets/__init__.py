"""What is learned from: read with NumPy and Pillow, checked, split. No TensorFlow here."""
