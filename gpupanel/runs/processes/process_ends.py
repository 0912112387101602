"""Waiting for the end of processes, without asking again and again."""

import os
import select
import time
from collections.abc import Iterable
from contextlib import ExitStack
from typing import Final

_WITHOUT_DESCRIPTORS_S: Final = 0.1
"""How long to wait at once where the kernel gives no descriptor of a process."""


def wait_for_end(pids: Iterable[int], timeout_s: float) -> None:
    """Wait until one of these processes ends, at most so long.

    Args:
        pids: Of children of this process that were not waited for yet, so that each number is
            still theirs.
        timeout_s: In seconds.
    """
    with ExitStack() as opened:
        ends = select.poll()
        try:
            for pid in pids:
                descriptor = os.pidfd_open(pid)
                opened.callback(os.close, descriptor)
                ends.register(descriptor, select.POLLIN)
        except OSError:  # an older kernel, no descriptors left, or it has just gone
            time.sleep(min(timeout_s, _WITHOUT_DESCRIPTORS_S))
            return
        ends.poll(1000.0 * timeout_s)
