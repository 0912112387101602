"""What stands beside an exported model: what it takes and gives, and a script that runs it."""
