"""A trained model for other programs, written by a child process."""

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Final

from gpupanel.domain.best_epoch import Keep
from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.events import DataReady
from gpupanel.domain.model_export import (
    ModelExport,
    ModelExportRequest,
    ModelFormat,
    Quantization,
)
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.regular_files import open_regular
from gpupanel.files.whole_files import whole_file
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.profile_file import read_run_profile
from gpupanel.runs.directory.run_folder import check_outside_of_runs
from gpupanel.runs.following.event_tail import EventTail
from gpupanel.runs.questions.question import OnProgress, Question, ignore_progress
from gpupanel.runs.tools.export.saved_models import model_with

SCRIPT: Final = "predict.py"
"""Stands beside each exported model, and predicts with it."""
_LONGEST_FIRST_LINE: Final = 200
_NAMES_LIMIT_S: Final = 5.0
write_model: Final = Question[ModelExportRequest, ModelExport](
    code="model_export",
    process="the process that exports the model",
    work="exporting the model",
    command=python_module_command("gpupanel.trainer.tools.model_export"),
    answer=ModelExport,
    limit_s=1800.0,
    slow_hint="The model may be too large for this machine, or it is busy.",
    death_hint="The model may be too large for this machine's memory; copy the detail.",
    field="model.path",
)


Write = Callable[..., ModelExport]
"""Writes a model as a request says; called as :data:`write_model` is."""


def model_export_request(
    layout: RunLayout,
    output: Path,
    model_format: ModelFormat,
    quantization: Quantization | None = None,
    weights: Keep | None = None,
) -> ModelExportRequest:
    """What is asked to have the model of a run exported.

    Args:
        layout: The run.
        output: The file, or the folder of a SavedModel.
        model_format: As what.
        quantization: Of a TFLite file.
        weights: Of the best epoch, or the last ones; ``None``: those that the run kept.

    Raises:
        ProblemError: The run cannot be read, has no model with these weights, or the output is a
            part of a run.
    """
    profile = read_run_profile(layout)
    if os.path.lexists(output):
        check_outside_of_runs(output)
    path, outputs = Path(profile.model.chosen_path), profile.model.chosen_outputs
    if profile.task == "train":
        # What such a run saves ends in what it says.
        path, outputs = model_with(layout, weights), None
    return ModelExportRequest(
        model=str(path.absolute()),
        output=str(output.absolute()),
        model_format=model_format,
        quantization=quantization,
        data=profile.data,
        seed=profile.training.seed,
        class_names=_class_names(layout),
        outputs=outputs,
    )


def export_model(
    request: ModelExportRequest,
    *,
    cancelled: Event | None = None,
    on_progress: OnProgress = ignore_progress,
    question: Write = write_model,
) -> ModelExport:
    """Write a model for other programs, in a process of its own.

    Beside it stand a JSON file that says what it takes and gives (``NAME.tflite.json``, within a
    SavedModel's folder ``model.json``), and ``predict.py``. All takes its place only when it is
    complete. Whatever becomes of the process, the answer is a :class:`ModelExport`: a death, a time
    limit or an answer that cannot be read is a problem in it.

    Args:
        request: What to write.
        cancelled: Set, by any thread, when it is not wanted any more.
        on_progress: Called with what the process says before its answer.
        question: Writes it.
    """
    output = Path(request.output)
    try:
        if request.model_format is ModelFormat.SAVEDMODEL and os.path.lexists(output):
            return ModelExport(problems=(_in_the_way(output),))
        # The process may be killed: what it has begun goes with this folder.
        with tempfile.TemporaryDirectory(
            dir=output.parent, prefix=f".{output.name}.", ignore_cleanup_errors=True
        ) as staging:
            staged = request.model_copy(update={"output": str(Path(staging, output.name))})
            found = question(staged, cancelled=cancelled, on_progress=on_progress)
            if not found.is_written or (cancelled is not None and cancelled.is_set()):
                return found
            more = _put_in_place(Path(staging), output)
            return found.model_copy(update={"problems": (*found.problems, *more)})
    except OSError as error:
        place = output.parent if isinstance(error, FileNotFoundError) else output
        return ModelExport(problems=(disk_problem(error, place),))


def _put_in_place(staging: Path, output: Path) -> tuple[Problem, ...]:
    """Move what was written to where it is wanted, the model last.

    Returns:
        What is to be known of it.

    Raises:
        OSError: It cannot be moved.
    """
    problems: tuple[Problem, ...] = ()
    beside = sorted(each for each in staging.iterdir() if each.name != output.name)
    for each in beside:
        place = output.with_name(each.name)
        if each.name == SCRIPT and not _may_replace(place, each):
            problems = (_script_left_out(place),)
        else:
            _move(each, place)
    model = staging / output.name
    if model.is_dir():
        model.rename(output)
    else:
        _move(model, output)
    return problems


def _move(file: Path, place: Path) -> None:
    """With the mode of what stands there, which has to be a regular file."""
    with file.open("rb") as content, whole_file(place) as whole:
        shutil.copyfileobj(content, whole)


def _may_replace(place: Path, script: Path) -> bool:
    """Whether nothing stands there, or a script of ours, perhaps of another version."""
    if not os.path.lexists(place):
        return True
    try:
        with open_regular(place) as there, script.open("rb") as new:
            first = there.readline(_LONGEST_FIRST_LINE)
            return first == new.readline(_LONGEST_FIRST_LINE) and not place.is_symlink()
    except OSError:
        return False


def _class_names(layout: RunLayout) -> tuple[str, ...]:
    """As the run reported them; none where it did not, or that is far from its beginning."""
    tail, until_s = EventTail(layout.events), time.monotonic() + _NAMES_LIMIT_S
    with suppress(OSError):
        while True:
            for part in tail.read():
                if isinstance(part, DataReady):
                    return part.class_names
            if not tail.has_more or time.monotonic() > until_s:
                break
    return ()


def _in_the_way(output: Path) -> Problem:
    return Problem(
        code="export_in_the_way",
        message=f"{output} is there already, and a SavedModel is a folder of its own.",
        hint="Name another folder.",
    )


def _script_left_out(place: Path) -> Problem:
    return Problem(
        code="export_without_script",
        severity=Severity.WARNING,
        message=f"{place} is another program's, so the script that predicts was not written.",
        hint="Export into another folder to have it beside the model.",
    )
