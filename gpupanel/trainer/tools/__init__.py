"""What answers tools beside training: each a process of its own."""
