"""What a window does that works on another machine: it asks there, and keeps copies here."""
