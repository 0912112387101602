"""A port that was free when it was chosen."""


class PortTaken(Exception):  # noqa: N818 - no failure of the run: other ports are tried
    """Another program has taken the port that this process was given."""
