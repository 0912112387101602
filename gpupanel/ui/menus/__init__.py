"""The menu bar, and the actions that it shares with the buttons of the window."""
