"""How long a run is there so far, of which nobody has said so: it goes on, or was killed."""

from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import status
from gpupanel.runs.directory.tails import LineTail
from gpupanel.runs.history.run_segments import RunSegments

MOST_READS = 64
"""Of a mebibyte each, a tenth of a second or two in all; the next list goes on from there."""
MOST_BYTES_OF_A_LOST_RUN = 4 * 2**20
"""There may be hundreds of them, and they are read anew by each command that lists runs."""


class SegmentsSoFar:
    """Reads the events of a run that goes on, each of them once.

    Args:
        layout: The run.
    """

    def __init__(self, layout: RunLayout) -> None:
        self._tail = LineTail(layout.events)
        self._segments = RunSegments()

    def since_s(self) -> float | None:
        """The start time without interruptions, in seconds since the epoch (UTC).

        What the machine slept is left out, and what passed until the run was resumed.

        Returns:
            ``None`` where no supervisor was there yet, or the events cannot be read.
        """
        try:
            for _ in range(MOST_READS):
                self._segments.see_block(self._tail.read_block())
                if not self._tail.has_more:
                    break
        except OSError:
            return None
        return self._segments.since_s


def lost_segments_s(layout: RunLayout, last_s: float | None) -> float | None:
    """How long all segments of a run lasted whose supervisor was killed.

    Args:
        layout: The run.
        last_s: When it was heard of last, seconds since the epoch (UTC).

    Returns:
        ``None`` where that is not known, or its events are too many to be read for a list.
    """
    found = status(layout.events)
    if last_s is None or found is None or found.st_size > MOST_BYTES_OF_A_LOST_RUN:
        return None
    since_s = SegmentsSoFar(layout).since_s()
    return None if since_s is None or last_s < since_s else last_s - since_s
