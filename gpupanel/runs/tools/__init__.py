"""Tools beside training that ask several processes, or do more than ask; each has a folder."""
