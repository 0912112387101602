"""The supervisor, a small process per run: starts, watches, ends and reports."""
