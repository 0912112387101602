"""Models of the host, written as other programs take them, and sent to the window."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from threading import Event

from gpupanel.domain.model_export import ModelExport, ModelExportRequest
from gpupanel.hosts.operations import FilePiece
from gpupanel.hosts.there.thinning import PIECE_BYTES
from gpupanel.runs.tools.export.model_export import write_model


def export(
    wanted: ModelExportRequest, say: Callable[[FilePiece], None], dropped: Event
) -> ModelExport:
    """Write a model here, and send all files of it; nothing of it stays.

    Args:
        wanted: ``output`` names the file, or the folder of a SavedModel, and no place.
        say: Called with each piece; it waits while the connection is slow.
        dropped: Set, by any thread, when nobody wants it any more.
    """
    with tempfile.TemporaryDirectory(prefix="gpupanel-export-") as name:
        folder = Path(name)
        output = str(folder / Path(wanted.output).name)
        found = write_model(wanted.model_copy(update={"output": output}), cancelled=dropped)
        if found.is_written:
            for path in sorted(folder.rglob("*")):
                if path.is_file() and not dropped.is_set():
                    _send(path, str(path.relative_to(folder)), say)
    return found


def _send(path: Path, name: str, say: Callable[[FilePiece], None]) -> None:
    with path.open("rb") as file:
        say(FilePiece(path=name, is_first=True))
        while piece := file.read(PIECE_BYTES):
            say(FilePiece(path=name, content=piece.decode("latin-1")))
