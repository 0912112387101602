"""How long tests wait for real runs: only a run that hangs may ever take as long."""

PATIENCE_S = 480.0
"""Loading TensorFlow takes 3 s of a core; on a busy machine that many processes share two."""
