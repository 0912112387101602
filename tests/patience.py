"""How long tests wait for real runs: only a run that hangs may ever take as long."""

import time
from collections.abc import Callable

PATIENCE_S = 480.0
"""Loading TensorFlow takes 3 s of a core; on a busy machine that many processes share two."""


def wait_until(is_so: Callable[[], bool], seconds: float = 60.0) -> None:
    """Look until it is.

    Raises:
        AssertionError: It never was.
    """
    until_s = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < until_s, "what was waited for did not come about"
        time.sleep(0.02)
