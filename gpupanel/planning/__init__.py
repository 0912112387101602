"""What would happen: pure functions from a profile and devices to problems and a launch plan."""
