"""The page of a run: all about one run, whether it goes on or ended long ago."""
