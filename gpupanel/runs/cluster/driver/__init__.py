"""The process that is Ray's driver: the only importer of Ray.

Ray's library ends its process when the head of its cluster is gone, and waits for two minutes where
nobody answers. So neither the supervisor of a run nor a command of the terminal loads it: they
start this process by name (``python -m gpupanel.runs.cluster.driver``), say in one line what they
want, and read lines.
"""
