"""What a window may ask of a host, by what it is about."""
