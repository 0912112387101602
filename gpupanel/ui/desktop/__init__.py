"""What the desktop knows of the program: launcher, icon, file type."""
