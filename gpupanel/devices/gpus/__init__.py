"""The GPUs of this machine: which there are, what each reports, who uses it."""
