"""How a child process is asked, and the questions that one process answers."""
