"""``python -m gpupanel.trainer.tools.scan``: what is in the data, all of it.

A :class:`~gpupanel.domain.scan.ScanRequest` as JSON on standard input is answered by lines of JSON
on standard output: first reports and progress, each with its kind, and last the
:class:`~gpupanel.domain.scan.DataScan`. Problems with the data are inside the answer. TensorFlow is
not imported, and no code of anybody's is carried out. The process ends with the one that asked.
"""

import sys
import time

from gpupanel.domain.data import DataCache, Target
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.scan import DataScan, ScanProgress, ScanRequest
from gpupanel.trainer.datasets.progress import OnProgress, ignore_progress
from gpupanel.trainer.datasets.scanning.report import report_of
from gpupanel.trainer.datasets.scanning.scanned import OnFirstReport, Scanned
from gpupanel.trainer.datasets.source import Reading, no_download, scan_unlabelled, source_of
from gpupanel.trainer.downloads.keras_cache import needs_download
from gpupanel.trainer.progress_lines import ProgressLines, end_on_sigterm


def ignore_first_report(scanned: Scanned) -> None:
    """Takes no first report: for a caller that wants the result alone."""


def scan(
    request: ScanRequest,
    on_progress: OnProgress = ignore_progress,
    on_first_report: OnFirstReport = ignore_first_report,
) -> DataScan:
    """What is in the data; whatever is wrong with it is in the report.

    Args:
        request: Which data.
        on_progress: Called while it is read.
        on_first_report: Called once with what is known first.
    """
    data = request.data.model_copy(update={"cache": DataCache.NONE})
    request = request.model_copy(update={"data": data})
    began_s = time.monotonic()
    nothing = DataScan(described=data.described, target=data.target_kind or Target.CLASSES)
    if needs_download(data):
        return nothing.model_copy(update={"needs_download": True})
    if data.is_code:
        return nothing.model_copy(update={"needs_start": True})
    try:
        scanned, problems = _scanned(request, on_progress, on_first_report)
        report = report_of(scanned, request, problems)
    except Exception as error:  # noqa: BLE001 - reported as a problem, as in training
        # Here and not above: it takes a tenth of the time until the first report.
        from gpupanel.trainer.failures import problems_of

        problems = problems_of(error, what="The scan of the data")
        report = nothing.model_copy(update={"problems": problems})
    return report.model_copy(update={"seconds": round(time.monotonic() - began_s, 3)})


def _scanned(
    request: ScanRequest, on_progress: OnProgress, on_first_report: OnFirstReport
) -> tuple[Scanned, tuple[Problem, ...]]:
    """The data, and why a training would refuse it."""
    data, source = request.data, source_of(request.data)
    reading = Reading(
        no_download,
        seed=request.seed,
        must_differ=request.task == "train",
        needs_labels=request.task != "predict",
        on_progress=on_progress,
    )
    try:
        return source.scan(data, reading, on_first_report), ()
    except ProblemError as error:
        problems = error.problems
        try:
            found = source.read_all(data, reading, needs_labels=False)
            scanned = scan_unlabelled(found, reading, on_first_report)
        except ProblemError:
            # What is wrong with it is said by now.
            raise error from None
    return scanned, problems if request.task != "predict" else ()


def main() -> int:
    """Answer the request on standard input."""
    end_on_sigterm()
    request = ScanRequest.model_validate_json(sys.stdin.buffer.read())
    lines = ProgressLines()

    def progress(doing: str, done: int, total: int) -> None:
        lines.progress(ScanProgress(doing=doing, done=done, total=total))

    def first(scanned: Scanned) -> None:
        lines.write("first", report_of(scanned, request))

    lines.write("scan", scan(request, progress, first))
    return 0


if __name__ == "__main__":
    sys.exit(main())
