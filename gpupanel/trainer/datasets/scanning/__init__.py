"""What is in the data: every example read once, in memory that does not grow with them."""
