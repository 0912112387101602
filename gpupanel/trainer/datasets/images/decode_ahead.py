"""Images are read in parts, some of them ahead of who takes them."""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from gpupanel.trainer.datasets.examples import Indices

_CHUNK = 32
"""Images decoded between two checks for stop requests."""
_READ_AHEAD = 2

Read = TypeVar("Read")


def chunks(rows: Indices) -> Iterable[Indices]:
    """These rows in parts, in their order."""
    return (rows[start : start + _CHUNK] for start in range(0, len(rows), _CHUNK))


def read_ahead(
    parts: Iterable[Indices], read: Callable[[Indices], Read]
) -> Generator[tuple[Indices, Read], None, None]:
    """Each part with what was read of it; while one is kept, the next two are read."""
    pool = ThreadPoolExecutor(_READ_AHEAD, thread_name_prefix="decode-ahead")
    begun: deque[tuple[Indices, Future[Read]]] = deque()
    try:
        for chunk in parts:
            begun.append((chunk, pool.submit(read, chunk)))
            if len(begun) > _READ_AHEAD:
                done, future = begun.popleft()
                yield done, future.result()
        for done, future in begun:
            yield done, future.result()
    finally:
        pool.shutdown(cancel_futures=True)
