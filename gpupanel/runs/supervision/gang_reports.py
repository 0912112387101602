"""What the processes of a gang report through the run's events, and how long they say nothing."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from gpupanel.domain.events import DataReady, Event, TrainingEnded, decode_event
from gpupanel.domain.preview import DataPreview
from gpupanel.files.guarded_files import status
from gpupanel.files.patient_log import MAY_PASS
from gpupanel.files.process_log import write_to_process_log
from gpupanel.runs.directory.tails import LineTail
from gpupanel.runs.following.status import RunStatus

_TICK_S: Final = 0.1
_LAST_READ_S: Final = 10.0
"""How long the last words of a run are tried, on a disk that does not answer."""


class GangReports:
    """Reads what the processes of one attempt report.

    Args:
        events: The run's file of events.
        news: Its events, read up to where the attempt begins.
        listen: Called with each.

    Attributes:
        status: What the run has come to.
        data: What the leader has said of it; ``None``: nothing.
        last_words: By the places of the processes that had one.
        last_sign_s: When one of them last reported something, by :func:`time.monotonic`.
        longest_silence_s: Between two reports, from the first step on.
    """

    def __init__(self, events: Path, news: LineTail, listen: Callable[[Event], None]) -> None:
        self.status = RunStatus()
        self.data: DataPreview | None = None
        self.last_words: dict[int, TrainingEnded] = {}
        self.last_sign_s = time.monotonic()
        self.longest_silence_s = 0.0
        self._events = events
        self._news = news
        self._listen = listen
        self._is_unread_said = False
        self._events_time_ns: int | None = None

    @property
    def said(self) -> TrainingEnded | None:
        """The leader's last word, if it had one."""
        return self.last_words.get(0)

    def read(self, *, is_over: bool) -> None:
        """Take in what was reported since.

        Args:
            is_over: No process is there any more: the last words are tried for longer, as nobody
                comes back for them.
        """
        has_more = True
        while has_more:
            lines = self._new_lines(_LAST_READ_S if is_over else 0.0)
            if lines is None or (not lines and self._has_tried_to_report()):
                # Silence is no hang where nobody can read, or write, the reports.
                self.last_sign_s = time.monotonic()
            for line in lines or ():
                self._note_report()
                self._take(decode_event(line))
            if lines is None:
                return
            has_more = self._news.has_more

    def pass_over(self, append: Callable[[], None]) -> None:
        """Let somebody append events that are no news: the last words of an earlier start."""
        append()
        while self._new_lines(0.0) is not None and self._news.has_more:
            continue

    def _new_lines(self, patience_s: float) -> Sequence[bytes] | None:
        """What was written since; ``None`` while it cannot be read: the training goes on."""
        until_s = time.monotonic() + patience_s
        while True:
            try:
                return self._news.read()
            except OSError as error:
                if not self._is_unread_said:
                    self._is_unread_said = True
                    write_to_process_log(
                        f"supervisor: the run's events cannot be read now: {error}"
                    )
                if error.errno not in MAY_PASS or time.monotonic() >= until_s:
                    return None
            time.sleep(_TICK_S)

    def _has_tried_to_report(self) -> bool:
        """Whether a trainer that finds no space has touched the events since the last time."""
        try:
            found = status(self._events)
        except OSError:
            return False
        before, self._events_time_ns = self._events_time_ns, found.st_mtime_ns if found else None
        return self._events_time_ns != before

    def _take(self, event: Event) -> None:
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
            self.last_words.setdefault(event.process, event)
        self._listen(event)

    def _note_report(self) -> None:
        now_s = time.monotonic()
        if self.status.first_step_time_s is not None:
            silence_s = now_s - self.last_sign_s
            self.longest_silence_s = max(self.longest_silence_s, silence_s)
        self.last_sign_s = now_s
