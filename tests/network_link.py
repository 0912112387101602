"""``python -m tests.network_link FIRST SECOND``: a link between two interfaces that it makes.

What goes into one comes out of the other, some time later: ``tc``'s netem, which not every kernel
has. A line of stdin is the delay from then on, in seconds; its end is the end of the link.
"""

import fcntl
import os
import select
import struct
import sys
import time
from collections import deque

_TAP, _WITHOUT_HEADER = 0x0002, 0x1000
"""``IFF_TAP`` and ``IFF_NO_PI`` of ``linux/if_tun.h``."""
_SET_INTERFACE = 0x400454CA
"""``TUNSETIFF``."""
_LONGEST_FRAME = 65_536


def tap(name: str) -> int:
    """Make an interface; what the kernel sends there can be read, and the other way round."""
    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    request = struct.pack("16sH22x", name.encode(), _TAP | _WITHOUT_HEADER)
    fcntl.ioctl(descriptor, _SET_INTERFACE, request)
    return descriptor


def main(first: str, second: str) -> None:
    ends = tap(first), tap(second)
    other = {ends[0]: ends[1], ends[1]: ends[0]}
    delay_s, on_the_way = 0.0, deque[tuple[float, int, bytes]]()
    print("ready", flush=True)
    while True:
        wait_s = max(0.0, on_the_way[0][0] - time.monotonic()) if on_the_way else None
        for ready in select.select([*ends, sys.stdin], [], [], wait_s)[0]:
            if ready is sys.stdin:
                line = sys.stdin.readline()
                if not line:
                    return
                delay_s = float(line)
                continue
            try:
                frame = os.read(ready, _LONGEST_FRAME)
            except OSError:
                continue  # the interface is down
            on_the_way.append((time.monotonic() + delay_s, other[ready], frame))
        now_s = time.monotonic()
        while on_the_way and on_the_way[0][0] <= now_s:
            _, end, frame = on_the_way.popleft()
            try:
                os.write(end, frame)
            except OSError:
                continue  # as above: the frame is lost


if __name__ == "__main__":
    main(*sys.argv[1:3])
