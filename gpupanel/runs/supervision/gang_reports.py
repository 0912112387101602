"""What the processes of a gang report through the run's events, and how long they are silent.

Processes on this machine write into the one file of events. Those on nodes of a cluster have files
of their own, which are brought into it here.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from gpupanel.domain.events import DataReady, TrainingEnded
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import open_to_read, remove, status
from gpupanel.files.patient_log import MAY_PASS
from gpupanel.files.process_log import write_to_process_log
from gpupanel.runs.directory.tails import LineTail, last_bytes_lines
from gpupanel.runs.following.event_tail import Part, decode_parts
from gpupanel.runs.following.status import RunStatus

_TICK_S: Final = 0.1
_LAST_READ_S: Final = 10.0
"""How long reading the last events of a run is tried, on a disk that does not answer."""
_MOST_LEFT_BYTES: Final = 4 * 2**20
"""More than processes write while a supervisor ends: of what is older all was taken."""


class GangReports:
    """Reads what the processes of one attempt report.

    Args:
        path: The run's file of events.
        events: Its events, read up to where the attempt begins.
        listener: Called with each event; steps that follow each other come in bulk.
        epochs: That are to be trained; 0: it trains nothing, or nobody knows.

    Attributes:
        status: The sum of the events so far.
        data: What the leader reported of the data; ``None``: nothing.
        last_reports: By the places of the processes that reported their end.
        last_event_s: When a process last reported something, by :func:`time.monotonic`.
        longest_silence_s: Between two reports, from the first step on.
    """

    def __init__(
        self, path: Path, events: LineTail, listener: Callable[[Part], None], epochs: int
    ) -> None:
        self.status = RunStatus(epoch_total=epochs)
        self.data: DataPreview | None = None
        self.last_reports: dict[int, TrainingEnded] = {}
        self.last_event_s = time.monotonic()
        self.longest_silence_s = 0.0
        self._path = path
        self._events = events
        self._listener = listener
        self._has_logged_failure = False
        self._events_time_ns: int | None = None

    @property
    def last_report(self) -> TrainingEnded | None:
        """How the leader reported its end, if it did."""
        return self.last_reports.get(0)

    def read(self, *, is_over: bool) -> None:
        """Take in what was reported since.

        Args:
            is_over: No process is there any more: reading is tried for longer, as nobody comes
                back for what they reported last.
        """
        has_more = True
        while has_more:
            lines = self._new_lines(_LAST_READ_S if is_over else 0.0)
            if lines is None or (not lines and self._has_tried_to_report()):
                # Silence is no hang where nobody can read, or write, the reports.
                self.last_event_s = time.monotonic()
            for part in decode_parts(b"".join(line + b"\n" for line in lines or ())):
                self._note_time()
                self._take(part)
            if lines is None:
                return
            has_more = self._events.has_more

    def skip(self, append: Callable[[], None]) -> None:
        """Let ``append`` append events of an attempt before this one, and pass over them."""
        append()
        while self._new_lines(0.0) is not None and self._events.has_more:
            continue

    def _new_lines(self, patience_s: float) -> Sequence[bytes] | None:
        """What was written since; ``None`` while it cannot be read: the training goes on."""
        until_s = time.monotonic() + patience_s
        while True:
            try:
                return self._events.read()
            except OSError as error:
                if not self._has_logged_failure:
                    self._has_logged_failure = True
                    write_to_process_log(
                        f"supervisor: the run's events cannot be read now: {error}"
                    )
                if error.errno not in MAY_PASS or time.monotonic() >= until_s:
                    return None
            time.sleep(_TICK_S)

    def _has_tried_to_report(self) -> bool:
        """Whether a trainer that finds no space has touched the events since the last time."""
        try:
            found = status(self._path)
        except OSError:
            return False
        before, self._events_time_ns = self._events_time_ns, found.st_mtime_ns if found else None
        return self._events_time_ns != before

    def _take(self, event: Part) -> None:
        self.status = self.status.after(event)
        if isinstance(event, DataReady):
            self.data = DataPreview(
                example_count=event.training_examples + event.validation_examples,
                training_count=event.training_examples,
                trained_count=event.training_examples,
                held_out_count=event.validation_examples,
                test_example_count=event.test_examples,
                feature_shape=event.feature_shape,
            )
        elif isinstance(event, TrainingEnded):
            self.last_reports.setdefault(event.process, event)
        self._listener(event)

    def _note_time(self) -> None:
        now_s = time.monotonic()
        if self.status.first_step_time_s is not None:
            silence_s = now_s - self.last_event_s
            self.longest_silence_s = max(self.longest_silence_s, silence_s)
        self.last_event_s = now_s


class ProcessEvents:
    """Brings the events of processes on other nodes into the one file of the run.

    It takes the events of each process once, in their order, whoever hands them over.

    Args:
        layout: The run.
        count: Of its processes.
        append: Appends a line to the run's events.
    """

    def __init__(self, layout: RunLayout, count: int, append: Callable[[str], None]) -> None:
        self._layout = layout
        self._append = append
        self._read_bytes = dict.fromkeys(range(count), 0)

    def begin(self) -> None:
        """Take what processes of a start before this one have left, and remove their files.

        How much of them a supervisor had taken that was killed nobody knows: a line that stands in
        the run's events was taken.
        """
        files = sorted(self._layout.root.glob("events-*.jsonl"))
        known = set(last_bytes_lines(self._layout.events, _MOST_LEFT_BYTES)) if files else set()
        for file in files:
            for line in last_bytes_lines(file, _MOST_LEFT_BYTES):
                if line.strip() and line not in known:
                    self._append(line.decode(errors="replace"))
            remove(file, self._layout.root)

    def take(self, place: int, lines: tuple[str, ...], read_bytes: int) -> None:
        """Take what the node of a process has read of its events.

        Args:
            place: Of the process in the gang.
            lines: What was read since the last time.
            read_bytes: How far the file of its events was read by then.
        """
        for line in lines:
            self._append(line)
        self._read_bytes[place] = max(read_bytes, self._read_bytes[place])

    def finish(self) -> None:
        """Take what nobody has handed over, as of a node that was lost, and remove the files."""
        for place, read_bytes in self._read_bytes.items():
            file = self._layout.process_events(place)
            for line in _whole_lines(_content_from(file, read_bytes)):
                self._append(line)
            remove(file, self._layout.root)


def _content_from(file: Path, offset: int) -> bytes:
    """What a file has from there on; nothing where it cannot be read."""
    try:
        with open_to_read(file) as opened:
            opened.seek(offset)
            return opened.read(_MOST_LEFT_BYTES)
    except OSError:
        return b""


def _whole_lines(content: bytes) -> list[str]:
    """Its lines but for the last one where a process was killed while it wrote that."""
    lines = content[: content.rfind(b"\n") + 1].split(b"\n")
    return [line.decode(errors="replace") for line in lines if line.strip()]
