"""What a run has come to, read from its directory."""
