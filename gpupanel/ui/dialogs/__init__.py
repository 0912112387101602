"""Windows that ask or show one thing, and wait for the answer."""
