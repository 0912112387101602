"""The tab Evaluation: validation examples while the run trains, and what was measured of it."""
