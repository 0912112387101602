"""Limits that the system sets for this process and whatever it starts."""

import resource


def address_space_limit() -> int | None:
    """The most bytes of address space that a process may take (``ulimit -v``); ``None``: all."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit
