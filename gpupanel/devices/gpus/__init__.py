"""The GPUs of this machine: who is there, what each tells, who uses it."""
