"""TensorFlow asks a full GPU for 2,304 bytes and never stops: seen in the log of its process.

``BFCAllocator::Extend`` (xla/tsl/framework/bfc_allocator.cc) asks for a tenth less, rounded up to
256 bytes, until it is given that, or it is less than what is wanted. A tenth less than 2,304 is
2,304 again, so that a small tensor is asked for without end where nothing at all is left of a GPU
whose limit is not reached: others have taken it meanwhile. The log gets a line each time, "failed
to allocate 2.2KiB (2304 bytes) from device" (``cuda_executor.cc``), thousands in a second; the
process uses the processor, and holds Python's lock, so that it cannot say so itself.
"""

from pathlib import Path
from typing import Final

from gpupanel.files.guarded_files import open_to_read

_AGAIN: Final = b"(2304 bytes) from device"
_ENDLESS_TIMES: Final = 200
"""In what the log gets between two looks; an allocator that ends passes that size once."""
_MOST_BYTES: Final = 2**18
"""Of the log's new end, which has about 1,700 such lines."""


class AllocationWatch:
    """Reads what a log gets.

    Args:
        log: Of a process that uses GPUs.
    """

    def __init__(self, log: Path) -> None:
        self._log = log
        self._read = 0

    def is_endless(self) -> bool:
        """Whether since the last look an allocator has asked for the same again and again."""
        try:
            with open_to_read(self._log) as file:
                size = file.seek(0, 2)
                file.seek(max(self._read, size - _MOST_BYTES))
                new = file.read(_MOST_BYTES)
        except OSError:
            return False
        self._read = size
        return new.count(_AGAIN) >= _ENDLESS_TIMES
