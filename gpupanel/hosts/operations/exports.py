"""Files that a host makes of its runs, and that are wanted here."""

from typing import Annotated, Final, Literal

from pydantic import Field

from gpupanel.domain.model_export import ModelExport, ModelExportRequest
from gpupanel.domain.value import Count, Value
from gpupanel.hosts.operations.operation import Bytes, Nothing, Operation, RunName
from gpupanel.runs.tools.export.export_format import ExportFormat


class FilePiece(Value):
    """A piece of a file that was made there, and is wanted here.

    Attributes:
        path: Below the folder that is written, ``variables/variables.index``.
        content: Its bytes.
        is_first: The file begins with it.
    """

    path: Annotated[str, Field(max_length=1_024)]
    content: Bytes = ""
    is_first: bool = False


class RunFileWanted(Value):
    """A run as one file; its copy here has not all that stands in it."""

    name: RunName
    format: ExportFormat


class PredictionsWanted(Value):
    """What a run has predicted, as it has written it."""

    name: RunName
    file: Literal["predictions.csv", "predictions.npz"]


class CurveTableWanted(Value):
    """All values of the curves of runs, in that order."""

    names: Annotated[tuple[RunName, ...], Field(max_length=10_000)]


class RowsWritten(Value):
    """How many rows a table has below its header."""

    rows: Count


EXPORT: Final = Operation("export", ModelExportRequest, FilePiece, ModelExport)
RUN_FILE: Final = Operation("run file", RunFileWanted, FilePiece, Nothing)
PREDICTIONS: Final = Operation("predictions", PredictionsWanted, FilePiece, Nothing)
CURVE_TABLE: Final = Operation("curve table", CurveTableWanted, FilePiece, RowsWritten)
