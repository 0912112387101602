"""What works beside the GUI thread, and the facades that stand before it."""
