"""Runs on the nodes of a Ray cluster; only the driver, a process of its own, imports Ray."""
