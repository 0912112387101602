"""What is measured of a whole set beside the loss, the same for every split of it."""
