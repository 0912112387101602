"""``python -m gpupanel.trainer.data_download``: fetches a data set of Keras's, once.

A :class:`~gpupanel.domain.data_download.DownloadRequest` as JSON on standard input is answered by
lines of JSON on standard output: ``{"progress": ...}`` while it goes on, ``{"end": ...}`` last.
TensorFlow is not imported. The process ends with the one that asked.
"""

import os
import signal
import sys
import time
from types import FrameType
from typing import NoReturn

from gpupanel.domain.data_download import DownloadEnd, DownloadProgress, DownloadRequest
from gpupanel.domain.value import Value
from gpupanel.trainer.downloads.download import fetch
from gpupanel.trainer.failures import DOWNLOADING_DATA, problems_of

_REPORT_S = 0.1


class _Reporter:
    """Writes how far it is, at most ten times a second, and ends when nobody listens any more."""

    def __init__(self) -> None:
        self._parent = os.getppid()
        self._reported_s = -1.0

    def progress(self, name: str, done: int, total: int | None) -> None:
        del name
        if os.getppid() != self._parent:
            sys.exit(1)
        now_s = time.monotonic()
        if now_s - self._reported_s >= _REPORT_S or done == total:
            self._reported_s = now_s
            self.write("progress", DownloadProgress(done=done, total=total))

    @staticmethod
    def write(kind: str, value: Value) -> None:
        sys.stdout.write(f'{{"{kind}": {value.model_dump_json()}}}\n')
        sys.stdout.flush()


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    del frame
    sys.exit(128 + number)


def main() -> int:
    """Answer the request on standard input."""
    # As an exception, so that what came of the file is removed at the end.
    signal.signal(signal.SIGTERM, _leave)
    request = DownloadRequest.model_validate_json(sys.stdin.buffer.read())
    reporter = _Reporter()
    end = DownloadEnd()
    try:
        fetch(request.data, reporter.progress)
    except Exception as error:  # noqa: BLE001 - reported as a problem, as at the start of a run
        end = DownloadEnd(problems=problems_of(error, what=DOWNLOADING_DATA))
    reporter.write("end", end)
    return 0


if __name__ == "__main__":
    sys.exit(main())
