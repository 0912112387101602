"""How much memory a training step takes, found out from its graph without carrying it out."""
