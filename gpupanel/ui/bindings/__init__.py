"""What connects panels with the session, with runs and with the person."""
