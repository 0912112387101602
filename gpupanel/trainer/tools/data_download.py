"""``python -m gpupanel.trainer.tools.data_download``: fetches a data set of Keras's, once.

A :class:`~gpupanel.domain.data_download.DownloadRequest` as JSON on standard input is answered by
lines of JSON on standard output: ``{"progress": ...}`` while it goes on, ``{"end": ...}`` last.
TensorFlow is not imported. The process ends with the one that asked.
"""

import sys

from gpupanel.domain.data_download import DownloadEnd, DownloadProgress, DownloadRequest
from gpupanel.trainer.downloads.download import fetch
from gpupanel.trainer.failures import DOWNLOADING_DATA, problems_of
from gpupanel.trainer.progress_lines import ProgressLines, end_on_sigterm


def main() -> int:
    """Answer the request on standard input."""
    end_on_sigterm()
    request = DownloadRequest.model_validate_json(sys.stdin.buffer.read())
    lines = ProgressLines()

    def report(name: str, done: int, total: int | None) -> None:
        del name
        lines.progress(DownloadProgress(done=done, total=total), is_last=done == total)

    end = DownloadEnd()
    try:
        fetch(request.data, report)
    except Exception as error:  # noqa: BLE001 - reported as a problem, as at the start of a run
        end = DownloadEnd(problems=problems_of(error, what=DOWNLOADING_DATA))
    lines.write("end", end)
    return 0


if __name__ == "__main__":
    sys.exit(main())
