"""What is in the data: every example looked at once, in memory that does not grow with them."""
