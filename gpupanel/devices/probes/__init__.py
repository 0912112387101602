"""Questions that are asked in a child process, since the answer may take long or crash."""
