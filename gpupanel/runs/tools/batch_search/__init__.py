"""Which batches fit, by trying."""
