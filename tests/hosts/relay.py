"""A relay between two ends of a connection, as slow as a line and as unreliable as a cable."""

import select
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress

_PIECE = 16_384


class Relay:
    """Hands on what comes to a port of loopback, with a delay and a rate; can be cut.

    Args:
        target: The port that it hands on to; set later where it is not known yet.
        bytes_per_s: In each direction; 0: as fast as it goes.
        delay_s: One way.
    """

    def __init__(self, target: int = 0, bytes_per_s: float = 0.0, delay_s: float = 0.0) -> None:
        self.target, self.bytes_per_s, self.delay_s = target, bytes_per_s, delay_s
        self.is_cut = False
        self.bytes_back = self.bytes_sent = 0
        """From the target and to it, of all connections."""
        self.connections = 0
        """That were let through."""
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        self._open: list[socket.socket] = []
        self._frozen: list[socket.socket] = []
        self._is_ended = False
        self._threads: list[threading.Thread] = []
        self._begin(self._accept)

    def cut(self, *, silently: bool = False) -> None:
        """Let nothing through any more; both ends are told, unless a cable was pulled."""
        self.is_cut = True
        if not silently:
            self._close_all()

    def freeze_connections(self) -> None:
        """Let nothing through the connections that are there, and new ones as before.

        As where a laptop has come into another network: nobody is told.
        """
        self._frozen += self._open

    def mend(self) -> None:
        """Let new connections through again."""
        self._close_all()
        self.is_cut = False

    def end(self) -> None:
        """Close all."""
        self._is_ended = True
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)  # which wakes who waits for it
        self._listening.close()
        self._close_all()
        for thread in self._threads:
            thread.join(5)

    def _close_all(self) -> None:
        opened, self._open, self._frozen = self._open, [], []
        for each in opened:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _begin(self, work: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._is_ended:
            try:
                end, _ = self._listening.accept()
            except OSError:
                return
            if self.is_cut:
                end.close()
                continue
            try:
                other = socket.create_connection(("127.0.0.1", self.target), 5)
            except OSError:
                end.close()
                continue
            for each in (end, other):
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._open += [end, other]
            self.connections += 1
            for source, sink in ((end, other), (other, end)):
                self._begin(self._hand_on, source, sink, sink is end)

    def _hand_on(self, source: socket.socket, sink: socket.socket, is_back: bool) -> None:
        waiting: deque[tuple[float, bytes]] = deque()
        free_s = time.monotonic()
        with suppress(OSError, ValueError):
            while True:
                now_s = time.monotonic()
                wait_s = max(0.0, waiting[0][0] - now_s) if waiting else None
                # What waits on the line is bounded, as in a real one.
                sources = [source] if len(waiting) < 64 else []
                if select.select(sources, [], [], wait_s)[0]:
                    piece = source.recv(_PIECE)
                    if not piece:
                        break
                    if is_back:
                        self.bytes_back += len(piece)
                    else:
                        self.bytes_sent += len(piece)
                    free_s = max(free_s, time.monotonic())
                    if self.bytes_per_s:
                        free_s += len(piece) / self.bytes_per_s
                    waiting.append((free_s + self.delay_s, piece))
                while waiting and waiting[0][0] <= time.monotonic():
                    piece = waiting.popleft()[1]
                    if not self.is_cut and sink not in self._frozen:
                        sink.sendall(piece)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_RDWR)
