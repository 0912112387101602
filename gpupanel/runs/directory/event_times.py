"""When a line of ``events.jsonl`` was written, whatever it says."""

import math

from pydantic_core import from_json


def time_of_line(line: bytes) -> float | None:
    """When an event happened that this version may not know otherwise, seconds since the epoch.

    ``None``: the line is empty, half or damaged, or has no such time.
    """
    try:
        document = from_json(line)
    except ValueError:
        return None
    time_s = document.get("time_s") if isinstance(document, dict) else None
    if not isinstance(time_s, int | float):
        return None
    try:
        moment = float(time_s)
    except OverflowError:
        return None  # a number of hundreds of digits
    return moment if math.isfinite(moment) and moment > 0 else None
