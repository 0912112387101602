"""Whether the head of the cluster still accepts connections, asked again and again."""

import socket
import threading
import time
from collections.abc import Callable
from typing import Final

_INTERVAL_S: Final = 1.0
_KNOCK_S: Final = 2.0
_GONE_S: Final = 5.0


class HeadWatch:
    """Asks from a thread of its own.

    Ray's library says nothing for a minute, and then ends its process.

    Args:
        head: Its address, ``host:port``.
        gone: Called in that thread, once, when it is gone.
    """

    def __init__(self, head: str, gone: Callable[[], None] | None = None) -> None:
        self._gone = gone
        host, _, port = head.rpartition(":")
        self._address = host.strip("[]"), int(port)
        self._answered_s = time.monotonic()
        threading.Thread(target=self._watch, name="head", daemon=True).start()

    @property
    def is_gone(self) -> bool:
        """Whether it has accepted none for some seconds."""
        return time.monotonic() - self._answered_s > _GONE_S

    def _watch(self) -> None:
        while True:
            try:
                socket.create_connection(self._address, _KNOCK_S).close()
                self._answered_s = time.monotonic()
            except OSError:
                pass  # not now
            if self._gone is not None and self.is_gone:
                self._gone()
                return
            time.sleep(_INTERVAL_S)
