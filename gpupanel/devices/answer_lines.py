"""Lines of an answer that comes in pieces."""

from collections.abc import Callable


class AnswerLines:
    """Takes output apart into lines as it comes; what has no end of line yet waits for it."""

    def __init__(self, on_line: Callable[[bytes], None]) -> None:
        """Nothing came yet.

        Args:
            on_line: Called with each whole line, without its end.
        """
        self._on_line = on_line
        self._rest = bytearray()

    def take(self, piece: bytes) -> None:
        """Further bytes."""
        self._rest += piece
        if b"\n" not in piece:
            return
        *lines, rest = bytes(self._rest).split(b"\n")
        self._rest = bytearray(rest)
        for line in lines:
            self._on_line(line)
