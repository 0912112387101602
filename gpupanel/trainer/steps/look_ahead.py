"""Examples that stay on disk are read while the steps before theirs are computed."""

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from gpupanel.trainer.datasets.examples import Array, Examples, Indices, rows_at_once
from gpupanel.trainer.steps.row_blocks import RowBlocks

_THREADS = 2
"""Sources that decode do it on threads of their own; two keep these busy between two readings."""
_AHEAD_BYTES = 64 * 2**20
_BLOCK_BYTES = 128 * 2**20
"""Of rows beside each other: what is asked for at once is a copy only where it lies in two."""
_CHUNK_BYTES = 256 * 2**10
_CHUNK_ROWS = 32
"""At least, so that those who decode have something to do side by side, and the interpreter little
to do for each; half of it where rows are large."""


@dataclass(slots=True)
class _Piece:
    """Rows that are being read.

    Attributes:
        block: Where they are written.
        first: Of those that were not taken yet.
        end: Of them all.
        reading: Comes to its end when they are there.
    """

    block: Array
    first: int
    end: int
    reading: Future[None]


class LookAhead:
    """Reads examples ahead, in the order in which they are going to be asked for.

    What is asked for in another order is read when it is asked for, so that who asks always gets
    what was asked for. What is read ahead takes up to 64 MiB, or twice what is asked for at once
    where that is more.
    """

    def __init__(self, examples: Examples) -> None:
        """Nothing is read, and no thread begun, before something is expected."""
        self._examples = examples
        row_bytes = max(1, examples.example_bytes)
        self._ahead_rows = max(1, _AHEAD_BYTES // row_bytes)
        # Large rows: some chunks must fit into what may be read ahead.
        most_rows = max(1, self._ahead_rows // 4)
        if most_rows < _CHUNK_ROWS:
            most_rows = min(most_rows, _CHUNK_ROWS // 2)
        usual = max(_CHUNK_ROWS, _CHUNK_BYTES // row_bytes)
        self._chunk_rows = min(most_rows, max(usual, rows_at_once(examples.features)))
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="look-ahead")
        self._expected = np.empty(0, np.int32)
        self._taken = 0
        self._begun = 0
        self._pieces: deque[_Piece] = deque()
        self._blocks = RowBlocks(examples.feature_shape, examples.features.dtype)
        self._joined = RowBlocks(examples.feature_shape, examples.features.dtype)
        self._block_rows = max(1, _BLOCK_BYTES // row_bytes)
        self._block = np.empty((0, *examples.feature_shape), examples.features.dtype)
        self._written = 0

    def expect(self, indices: Indices) -> None:
        """Read ahead what is going to be asked for now, instead of what was expected before.

        What was read ahead already is kept where it is what comes now.

        Args:
            indices: Of the examples, in the order in which they will be asked for.
        """
        begun = self._expected[self._taken : self._begun]
        if not np.array_equal(begun, indices[: len(begun)]):
            for piece in self._pieces:
                piece.reading.cancel()
            self._pieces.clear()
            begun = begun[:0]
        self._expected, self._taken, self._begun = indices, 0, len(begun)
        self._read_on()

    def take(self, indices: Indices) -> Array:
        """The features of these examples, in this order; waits for them.

        As long as somebody holds them they stay as they are.

        Raises:
            ProblemError: One of them cannot be read.
        """
        rows = len(indices)
        if not np.array_equal(self._expected[self._taken : self._taken + rows], indices):
            return self._examples.read(indices)
        self._ahead_rows = max(self._ahead_rows, 2 * rows)
        self._block_rows = max(self._block_rows, 2 * rows)
        parts = list[Array]()
        missing = rows
        while missing or not parts:
            self._read_on()
            part = self._next_part(missing)
            missing -= len(part)
            parts.append(part)
        self._taken += rows
        self._read_on()
        if len(parts) == 1:
            return parts[0]
        return np.concatenate(parts, out=self._joined.block(rows))

    def close(self) -> None:
        """Read no more; what is being read just now comes to its end by itself."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _next_part(self, most: int) -> Array:
        """The next rows that lie beside each other, so many at the most."""
        if not most:
            return self._block[:0]
        block, first = self._pieces[0].block, self._pieces[0].first
        end = first
        while self._pieces and self._pieces[0].block is block and end - first < most:
            piece = self._pieces[0]
            piece.reading.result()
            end = min(piece.end, first + most)
            piece.first = end
            if piece.first == piece.end:
                self._pieces.popleft()
            self._read_on()
        return block[first:end]

    def _read_on(self) -> None:
        end = min(len(self._expected), self._taken + self._ahead_rows)
        while self._begun < end:
            if self._written == len(self._block):
                self._block, self._written = self._blocks.block(self._block_rows), 0
            left = min(self._chunk_rows, len(self._block) - self._written)
            chunk = self._expected[self._begun : self._begun + left]
            first, self._written = self._written, self._written + len(chunk)
            reading = self._pool.submit(self._read, chunk, self._block[first : self._written])
            self._pieces.append(_Piece(self._block, first, self._written, reading))
            self._begun += len(chunk)

    def _read(self, chunk: Indices, rows: Array) -> None:
        # Here, and not where a call waits for it: what one thread does for all is not spread.
        rows[...] = self._examples.read(chunk)
