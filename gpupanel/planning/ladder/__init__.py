"""Ways in which a training fits the memory of its devices."""
