"""Which share of each global batch each replica takes, so that none waits for another."""
