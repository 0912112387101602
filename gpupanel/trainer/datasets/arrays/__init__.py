"""Arrays in files: opened without running code from them, and found by their names."""
