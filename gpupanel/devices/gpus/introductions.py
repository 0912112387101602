"""What came of asking each GPU that the driver counts who it is."""

from collections.abc import Callable
from typing import Final

from gpupanel.domain.device import UnresponsiveGpu
from gpupanel.domain.gpu_failure import NO_ANSWER

SILENT_S: Final = 5.0
"""A GPU whose driver has not come back for so long counts as not answering. One that works answers
in milliseconds; the first time, when its driver has to load, in up to a few seconds."""


class Introductions:
    """The GPUs of one opening of the driver, by the driver's numbers; used under a lock.

    Args:
        clock: Seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began_s: dict[int, float] = {}
        self._keys: dict[int, str] = {}
        self._unresponsive: dict[int, UnresponsiveGpu] = {}

    @property
    def are_going_on(self) -> bool:
        """Whether a GPU was asked and has not answered yet."""
        return bool(self._began_s)

    @property
    def unresponsive(self) -> tuple[UnresponsiveGpu, ...]:
        """GPUs that return an error, or have returned nothing for :data:`SILENT_S`."""
        now_s = self._clock()
        silent = {
            index: UnresponsiveGpu(failure=NO_ANSWER, index=index)
            for index, began_s in self._began_s.items()
            if now_s - began_s >= SILENT_S
        }
        found = silent | self._unresponsive
        return tuple(found[index] for index in sorted(found))

    def key(self, index: int) -> str | None:
        """The UUID that it answered with."""
        return self._keys.get(index)

    def begin(self, index: int) -> None:
        """It is asked; where it has not answered the last time yet, that one counts."""
        self._began_s.setdefault(index, self._clock())

    def end(self, index: int, found: str | UnresponsiveGpu | None) -> None:
        """It answered: its UUID, that it is none for this user (``None``), or why it does not."""
        self._began_s.pop(index, None)
        self._unresponsive.pop(index, None)
        self._keys.pop(index, None)
        if isinstance(found, str):
            self._keys[index] = found
        elif found is not None:
            self._unresponsive[index] = found

    def forget(self) -> None:
        """The driver was let go: its next opening may number them otherwise."""
        self._began_s.clear()
        self._keys.clear()
        self._unresponsive.clear()
