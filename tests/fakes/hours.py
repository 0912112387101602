"""Hours for tests that run at any time of the day."""

import time


def hours_later(begin: float, end: float) -> str:
    """Hours from so many hours from now on to so many."""
    moments = (time.localtime(time.time() + hours * 3600.0) for hours in (begin, end))
    return "-".join(f"{each.tm_hour:02}:{each.tm_min:02}" for each in moments)


def closed_now() -> str:
    """Hours that begin in three hours: whatever a test takes, none of them."""
    return hours_later(3, 6)
