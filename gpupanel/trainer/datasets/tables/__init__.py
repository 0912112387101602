"""Tables: how a file of one is written, what its columns hold, and rows of numbers made of it."""
