"""Writes the model of a run for other programs."""

from pathlib import Path
from typing import Any

from gpupanel.cli.output import print_problems, progress
from gpupanel.domain.best_epoch import Keep
from gpupanel.domain.model_export import ModelExport, ModelFormat, Quantization
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.tools.export.model_export import export_model, model_export_request


def write_model(
    layout: RunLayout,
    output: Path,
    model_format: ModelFormat,
    quantization: Quantization | None,
    weights: Keep | None = None,
) -> ModelExport:
    """Write the model of a run, and print what is to be known of it.

    Raises:
        ProblemError: It cannot be written, and why.
    """
    request = model_export_request(layout, output, model_format, quantization, weights)
    with progress.status("Exporting the model…"):
        found = export_model(request)
    if not found.is_written:
        raise ProblemError(*found.problems)
    print_problems(found.problems)
    return found


def model_document(found: ModelExport) -> dict[str, Any]:
    """What stands in the JSON document."""
    return found.model_dump(mode="json", exclude={"problems"})
