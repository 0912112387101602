"""What each code of a problem means, what causes it and what to do: a chapter a file."""
