"""How one step is divided, drawn for each strategy."""
