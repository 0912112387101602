"""The run's own record of its data, by which other data is found when the run goes on."""

import threading
import time
from contextlib import suppress
from dataclasses import replace
from typing import Final, Self

import numpy as np

from gpupanel.domain.events import ProblemReported
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.files.guarded_files import read_file, remove, status
from gpupanel.files.whole_files import whole_file
from gpupanel.trainer.datasets.fingerprint import Fingerprint, compare
from gpupanel.trainer.datasets.split import Split
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.saving.checkpoints import Checkpoints
from gpupanel.trainer.saving.data_problems import (
    changed_data,
    fingerprint_not_written,
    fingerprint_unreadable,
    no_fingerprint,
)
from gpupanel.trainer.started_run import StartedRun

LARGEST_BYTES: Final = 2**30
"""The largest fingerprint file: that of seven million files."""


class DataRecord:
    """Compares the data with what the run has learned from, and keeps its fingerprint.

    Only the process that leads does. The file stands before the first step. The content of files
    that stay on disk is hashed while the training goes on, and is in the record once all of it was
    read, or the training ends.

    Args:
        run: The run.
        split: Its data, with the fingerprint where this process leads.
        events: Where it is reported.
    """

    def __init__(self, run: StartedRun, split: Split, events: EventWriter) -> None:
        self._run = run
        self._layout = run.layout
        self._files = split.data.files
        self._now = split.fingerprint
        self._events = events
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._read_files, name="hash-files", daemon=True)
        self._is_written = self._has_reported = False

    def __enter__(self) -> Self:
        """Compare, and begin to keep.

        Raises:
            ProblemError: The data is other than what the checkpoint of the run was made from, and
                nobody has said that it may go on.
            OSError: An event cannot be written.
        """
        if self._now is None:
            return self
        if Checkpoints(self._layout.checkpoints).saved():
            self._compare(self._now)
        self._write(self._now)
        remove(self._layout.accepted_data)
        if not self._now.is_complete:
            self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._is_over.set()
        if self._thread.ident is not None:
            self._thread.join()
        elif self._now is not None and not self._is_written:
            # The disk was full when it began.
            self._write_suppressed(self._now)

    def _compare(self, now: Fingerprint) -> None:
        before = self._read()
        if before is None:
            return
        differences, self._now = compare(before, now, self._files)
        if not differences:
            return
        if status(self._layout.accepted_data) is not None:
            self._report(changed_data(self._run, differences, is_accepted=True))
            return
        raise ProblemError(changed_data(self._run, differences, is_accepted=False))

    def _read(self) -> Fingerprint | None:
        """What the data was; ``None``, and reported, where that is not known."""
        path = self._layout.data_fingerprint
        try:
            return Fingerprint.from_json(read_file(path, most_bytes=LARGEST_BYTES))
        except FileNotFoundError:
            self._report(no_fingerprint())
        except (OSError, ValueError) as error:
            self._report(fingerprint_unreadable(path.name, error))
        return None

    def _read_files(self) -> None:
        now, files = self._now, self._files
        if now is None or files is None:
            return
        digests = now.files.digests.copy()
        for row in np.flatnonzero(digests == b"").tolist():
            if self._is_over.is_set():
                break
            digests[row] = files.digest_of(row, self._is_over.is_set)
        self._write_suppressed(replace(now, files=now.files.with_digests(digests)))

    def _write_suppressed(self, fingerprint: Fingerprint) -> None:
        with suppress(OSError):  # the run's folder is gone: the training reports that
            self._write(fingerprint)

    def _write(self, fingerprint: Fingerprint) -> None:
        try:
            with whole_file(self._layout.data_fingerprint, private=True) as file:
                file.writelines(fingerprint.to_json())
            self._is_written = True
        except OSError as error:
            if not self._has_reported:
                self._has_reported = True
                self._report(fingerprint_not_written(error))

    def _report(self, problem: Problem) -> None:
        self._events.write(ProblemReported(time_s=time.time(), problem=problem))
