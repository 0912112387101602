"""Forms made of the settings that a value declares."""
