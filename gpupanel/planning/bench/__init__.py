"""What is compared to find the fastest way to train a profile."""
