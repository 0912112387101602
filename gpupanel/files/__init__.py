"""How files are written so that nothing is lost, whoever writes and whatever happens."""
