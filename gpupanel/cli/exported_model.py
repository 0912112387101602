"""Writes the model of a run for other programs."""

from pathlib import Path
from typing import Any

from gpupanel.cli.output import progress
from gpupanel.domain.model_export import (
    ModelExport,
    ModelExportRequest,
    ModelFormat,
    Quantization,
)
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.profile_file import read_run_profile
from gpupanel.runs.directory.run_folder import check_outside_of_runs
from gpupanel.runs.model_export import export_model


def write_model(
    layout: RunLayout,
    output: Path,
    model_format: ModelFormat,
    quantization: Quantization | None,
) -> ModelExport:
    """Write the model of a run.

    Raises:
        ProblemError: It cannot be written, and why.
    """
    profile = read_run_profile(layout)
    if output.exists():
        check_outside_of_runs(output)
    request = ModelExportRequest(
        model=str(layout.model if profile.task == "train" else profile.model.chosen_path),
        output=str(output.absolute()),
        model_format=model_format,
        quantization=quantization,
        data=profile.data,
        seed=profile.training.seed,
    )
    with progress.status("Exporting the model…"):
        found = export_model(request)
    if found.problems:
        raise ProblemError(*found.problems)
    return found


def model_document(found: ModelExport) -> dict[str, Any]:
    """What stands in the JSON document."""
    return found.model_dump(mode="json", exclude={"problems"})
