"""Has the model of a run exported by a process of its own."""

from collections.abc import Sequence
from pathlib import Path
from threading import Event

from PySide6.QtCore import QObject, Signal

from gpupanel.domain.model_export import ModelExport
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.export_format import ModelExportFormat
from gpupanel.runs.kept_models import other_weights
from gpupanel.runs.model_export import EXPORT_COMMAND, export_model, model_export_request
from gpupanel.ui.workers.single_request import SingleRequestFacade


class ModelExporter(SingleRequestFacade):
    """One export at a time; a new one ends the one before, of which nothing is left.

    Whatever becomes of the process, the answer is a :class:`ModelExport`: a death or an answer that
    cannot be read is a problem in it.
    """

    exported = Signal(object)
    """The :class:`ModelExport` of the last request."""

    def __init__(
        self, command: Sequence[str] = EXPORT_COMMAND, parent: QObject | None = None
    ) -> None:
        super().__init__("model exporter", parent)
        self._command = command

    def begin(
        self, layout: RunLayout, wanted: ModelExportFormat, output: Path, *, is_other: bool = False
    ) -> None:
        """Write the model of that run there; ends an export that goes on.

        Args:
            layout: The run.
            wanted: As what.
            output: The file, or the folder of a SavedModel.
            is_other: The one with the weights that the run did not keep.
        """
        command = self._command
        self.carry_out(
            lambda dropped, _: _export(layout, wanted, output, dropped, command, is_other=is_other),
            self.exported.emit,
            failed=lambda problems: ModelExport(problems=problems),
        )


def _export(
    layout: RunLayout,
    wanted: ModelExportFormat,
    output: Path,
    dropped: Event,
    command: Sequence[str],
    *,
    is_other: bool,
) -> ModelExport:
    try:
        weights = other_weights(layout) if is_other else None
        request = model_export_request(
            layout, output, wanted.model_format, wanted.quantization, weights
        )
    except ProblemError as error:
        return ModelExport(problems=error.problems)
    return export_model(request, dropped, command)
