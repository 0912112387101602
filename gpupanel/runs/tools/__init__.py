"""Tools beside training: what each asks a child process, and how it is asked."""
