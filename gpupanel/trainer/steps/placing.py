"""While one call computes, what the next one takes is copied to its devices.

One call ahead and no more: beside what a call takes, a device holds as much once more.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import tensorflow as tf

from gpupanel.trainer.datasets.examples import Indices

Place = Callable[[Indices, Indices | None], tuple[tf.Tensor, ...]]
"""Turns batches and bounds into the arguments of a call, each on its device."""


class PlacedAhead:
    """Places what calls take on a thread of its own, one after the other."""

    def __init__(self, place: Place) -> None:
        """Nothing is begun, and no thread, before something is asked for.

        Args:
            place: Called on that thread.
        """
        self._place = place
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="place-ahead")
        self._next: tuple[Indices, Indices, Future[tuple[tf.Tensor, ...]]] | None = None

    def begin(self, batches: Indices, bounds: Indices) -> None:
        """Begin to place what the next call takes."""
        self._next = (batches, bounds, self._pool.submit(self._place, batches, bounds))

    def take(self, batches: Indices, bounds: Indices | None) -> tuple[tf.Tensor, ...]:
        """What a call takes; waits for it.

        Raises:
            ProblemError: An example cannot be read.
        """
        if self._next is not None and bounds is not None:
            begun, begun_bounds, placed = self._next
            if np.array_equal(begun, batches) and np.array_equal(begun_bounds, bounds):
                self._next = None
                return placed.result()
        return self._pool.submit(self._place, batches, bounds).result()

    def forget(self) -> None:
        """Give up what was begun, when it has come to its end."""
        if self._next is not None:
            self._next[2].cancel()
            self._pool.submit(lambda: None).result()
            self._next = None

    def close(self) -> None:
        """Place no more; what is being placed just now comes to its end by itself."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._next = None
