"""What the part of one source in a script is made of, where that is long enough for a file."""
