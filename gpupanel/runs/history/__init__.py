"""Past runs and those that go on."""
