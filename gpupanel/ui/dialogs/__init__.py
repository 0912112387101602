"""Windows that ask or tell one thing, and wait for the answer."""
