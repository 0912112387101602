"""One step of all replicas: which examples, each replica's contribution, their sum, the update."""
