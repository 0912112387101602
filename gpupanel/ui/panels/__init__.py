"""What stands in the window: one file a panel, none of which knows another."""
