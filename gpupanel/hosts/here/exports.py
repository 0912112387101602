"""Files that a host makes of its runs, brought to the place here that a person has chosen."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event

from gpupanel.domain.model_export import ModelExport, ModelExportRequest
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.whole_files import whole_file
from gpupanel.hosts.here.link import Link
from gpupanel.hosts.here.paths import CopiedPaths
from gpupanel.hosts.here.received_files import ReceivedFiles
from gpupanel.hosts.operations.exports import (
    CURVE_TABLE,
    EXPORT,
    PREDICTIONS,
    RUN_FILE,
    CurveTableWanted,
    FilePiece,
    PredictionsWanted,
    RunFileWanted,
)
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.run_folder import check_outside_of_runs
from gpupanel.runs.questions.question import OnProgress, ignore_progress
from gpupanel.runs.tools.export.export_format import ExportFormat


class NotWantedError(Exception):
    """Nobody wants the file any more: what stood in its place still does."""


class HostExports:
    """What is made there, of the runs as they stand there: a copy here has not all of them.

    Args:
        link: To the host.
        paths: Exchanges those of runs there for those of their copies.
    """

    def __init__(self, link: Link, paths: CopiedPaths) -> None:
        self._link, self._paths = link, paths

    def write_model(
        self,
        request: ModelExportRequest,
        *,
        cancelled: Event | None = None,
        on_progress: OnProgress = ignore_progress,
    ) -> ModelExport:
        """Have a model written, and all of its files brought beside ``request.output``."""
        del on_progress
        output = Path(request.output)
        wanted = request.model_copy(
            update={"model": self._paths.there(request.model), "output": output.name}
        )
        take = ReceivedFiles(output.parent).take
        return self._link.call(EXPORT, wanted, on_part=take, cancelled=cancelled)

    def write_run(
        self, layout: RunLayout, wanted: ExportFormat, output: Path, cancelled: Event
    ) -> None:
        """Have a report, a notebook or a script of a run written; ``output`` stands whole or not.

        Raises:
            ProblemError: The host refuses it, or it cannot be written here.
            NotWantedError: So it was said.
        """
        request = RunFileWanted(name=layout.root.name, format=wanted)
        with _taken_whole(output, cancelled) as take:
            self._link.call(RUN_FILE, request, on_part=take, cancelled=cancelled)

    def write_predictions(
        self, layout: RunLayout, name: str, output: Path, cancelled: Event
    ) -> None:
        """Bring what a run has predicted; ``output`` stands whole or not.

        Args:
            layout: Of the run's copy.
            name: Of its file of predictions.
            output: Where it is wanted.
            cancelled: Set, by any thread, when it is not wanted any more.

        Raises:
            ProblemError: The host refuses it, or it cannot be written here.
            NotWantedError: So it was said.
        """
        request = PredictionsWanted.model_validate({"name": layout.root.name, "file": name})
        with _taken_whole(output, cancelled) as take:
            self._link.call(PREDICTIONS, request, on_part=take, cancelled=cancelled)

    def write_curve_table(
        self, output: Path, layouts: Sequence[RunLayout], cancelled: Event
    ) -> int:
        """Have all values of runs written into a table; how many there are.

        Raises:
            ProblemError: The host refuses it, or it cannot be written here.
            NotWantedError: So it was said.
        """
        request = CurveTableWanted(names=tuple(layout.root.name for layout in layouts))
        with _taken_whole(output, cancelled) as take:
            written = self._link.call(CURVE_TABLE, request, on_part=take, cancelled=cancelled)
        return written.rows


@contextmanager
def _taken_whole(output: Path, cancelled: Event) -> Iterator[Callable[[FilePiece], object]]:
    """What takes the pieces of a file, which stands at its place once the block has ended."""
    if output.exists():
        check_outside_of_runs(output)
    try:
        with whole_file(output) as file:
            yield lambda piece: file.write(piece.content.encode("latin-1"))
            if cancelled.is_set():
                raise NotWantedError
    except OSError as error:
        raise ProblemError(disk_problem(error, output)) from error
    except ProblemError as error:
        if cancelled.is_set():
            raise NotWantedError from error  # which the host may say in its own words
        raise
