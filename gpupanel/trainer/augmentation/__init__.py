"""Training examples are changed at random: what is drawn for each, and what it does to them."""
