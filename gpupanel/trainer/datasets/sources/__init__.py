"""One file for each kind of data: its ``SOURCE`` reads it."""
