"""Images in files: which there are, what they are, and their pixels."""
