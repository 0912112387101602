"""A note that a person sends to see whether notes arrive."""

import socket
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

from gpupanel.domain.notes import NoteKind, NoteSettings, PostedNote, Way
from gpupanel.runs.notes.delivery import NotDeliveredError
from gpupanel.runs.notes.ways import deliver


@dataclass(frozen=True, slots=True)
class TriedWay:
    """What came of a try.

    Attributes:
        failure: Why it did not arrive; empty: it was taken.
    """

    way: Way
    failure: str = ""

    @property
    def words(self) -> str:
        """A sentence."""
        return f"{self.way.label}: {self.failure or 'sent.'}"


def try_ways(settings: NoteSettings) -> Iterator[TriedWay]:
    """Send a note by each way that is set, one after the other, each once."""
    note = PostedNote(
        key=uuid.uuid4().hex,
        kind=NoteKind.ENDED,
        title=f"gpupanel on {socket.gethostname()}",
        text="A test: notes about your runs will arrive like this one.",
        time_s=time.time(),
    )
    for way in settings.ways:
        try:
            deliver(note, way, settings)
        except NotDeliveredError as error:
            yield TriedWay(way, str(error))
        else:
            yield TriedWay(way)
