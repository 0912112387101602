"""Files that are made of runs on the host for a window elsewhere, and sent to it."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import BinaryIO

from gpupanel.domain.model_export import ModelExport, ModelExportRequest
from gpupanel.files.guarded_files import open_to_read
from gpupanel.hosts.operations.exports import (
    CurveTableWanted,
    FilePiece,
    PredictionsWanted,
    RowsWritten,
    RunFileWanted,
)
from gpupanel.hosts.operations.operation import Nothing
from gpupanel.hosts.there.followed_run import run_there
from gpupanel.hosts.there.thinning import PIECE_BYTES
from gpupanel.runs.tools.export.model_export import write_model

Say = Callable[[FilePiece], None]


def export_model(wanted: ModelExportRequest, say: Say, dropped: Event) -> ModelExport:
    """Write a model, and send all files of it.

    Args:
        wanted: ``output`` names the file, or the folder of a SavedModel, and no place.
        say: Called with each piece; it waits while the connection is slow.
        dropped: Set, by any thread, when nobody wants it any more.
    """
    with _folder() as folder:
        output = str(folder / Path(wanted.output).name)
        found = write_model(wanted.model_copy(update={"output": output}), cancelled=dropped)
        if found.is_written:
            _send(folder, say, dropped)
    return found


def export_run(wanted: RunFileWanted, say: Say, dropped: Event) -> Nothing:
    """Write a report, a notebook or a script of a run, and send it.

    Raises:
        ProblemError: As :func:`gpupanel.runs.tools.export.exported_run.write_run` says it.
    """
    # Not at the top: what it takes is imported once a person wants it.
    from gpupanel.runs.tools.export.exported_run import write_run

    layout = run_there(wanted.name)
    with _folder() as folder:
        write_run(layout, wanted.format, folder / "run", dropped)
        _send(folder, say, dropped)
    return Nothing()


def export_predictions(wanted: PredictionsWanted, say: Say, dropped: Event) -> Nothing:
    """Send what a run has predicted.

    Raises:
        ProblemError: There is no such run.
        OSError: The file cannot be read.
    """
    layout = run_there(wanted.name)
    with open_to_read(layout.root / wanted.file, layout.root) as file:
        send_file(file, wanted.file, say, dropped)
    return Nothing()


def export_curves(wanted: CurveTableWanted, say: Say, dropped: Event) -> RowsWritten:
    """Write all values of runs into a table, and send it.

    Raises:
        ProblemError: There is no such run.
        OSError: One cannot be read.
    """
    from gpupanel.runs.history.curve_table import write_curve_table

    layouts = [*map(run_there, wanted.names)]
    with _folder() as folder:
        rows = write_curve_table(folder / "curves.csv", layouts, dropped.is_set)
        _send(folder, say, dropped)
    return RowsWritten(rows=rows)


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="gpupanel-export-") as name:
        yield Path(name)


def _send(folder: Path, say: Say, dropped: Event) -> None:
    """Send all files of a folder, as long as they are wanted."""
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        with path.open("rb") as file:
            send_file(file, str(path.relative_to(folder)), say, dropped)


def send_file(
    file: BinaryIO, name: str, say: Say, dropped: Event, *, is_first: bool = True
) -> None:
    """Send the rest of a file, as long as it is wanted.

    Args:
        file: From where it is read now.
        name: As which it is sent.
        say: Called with each piece.
        dropped: Set, by any thread, when nobody wants it any more.
        is_first: The file begins with it.
    """
    while ((piece := file.read(PIECE_BYTES)) or is_first) and not dropped.is_set():
        say(FilePiece(path=name, content=piece.decode("latin-1"), is_first=is_first))
        is_first = False
