"""A window that works on another machine: its connection, what it says of it, the files there."""
