"""What of a run is exported, and the file that it is written to."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Event
from typing import Final

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.process_environment import PLANNED_VARIABLES
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import status
from gpupanel.files.plan_file import NewerPlanError, read_plan
from gpupanel.files.whole_files import write_whole
from gpupanel.planning.script.notebook import notebook
from gpupanel.planning.script.one_process import in_one_process
from gpupanel.planning.script.slurm import slurm_script
from gpupanel.planning.script.stand_alone import stand_alone_script
from gpupanel.planning.tensorflow_calls import tensorflow_calls
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.profile_file import read_run_profile
from gpupanel.runs.directory.run_folder import check_outside_of_runs
from gpupanel.runs.installed_command import installed_command
from gpupanel.runs.questions.data_preview import preview_data
from gpupanel.runs.questions.detected_data import with_detected_data
from gpupanel.runs.tools.export.export_format import ExportFormat
from gpupanel.runs.trust.trusted import check_trusted
from gpupanel.runs.trust.user_code import UserCode, code_of_run

_LOGICAL_DEVICE: Final = re.compile(r"/device:(CPU|GPU):\d{1,6}")


def profile_of_export(layout: RunLayout) -> tuple[Profile, LaunchPlan, tuple[UserCode, ...]]:
    """The run's profile, its plan, and the Python files that a script of it runs.

    These files, and a saved model that was trained further, are the run's own copies: what the
    profile named may be something else by now.

    Raises:
        ProblemError: One of them is missing, damaged, or of a newer version.
    """
    profile, code = profile_and_code(layout)
    return profile, _plan(layout), code


def profile_and_code(layout: RunLayout) -> tuple[Profile, tuple[UserCode, ...]]:
    """The run's profile with the run's own copies, and the Python files among these.

    Raises:
        ProblemError: One of them is missing, damaged, or of a newer version.
    """
    profile = read_run_profile(layout)
    code = code_of_run(layout, profile)
    paths = {each.key: str(each.path.absolute()) for each in code}
    model, data = profile.model, profile.data
    if "model.path" in paths:
        model = model.model_copy(update={"path": paths["model.path"]})
    if "model.measures" in paths:
        model = model.model_copy(update={"measures": paths["model.measures"]})
    if "data.path" in paths:
        data = data.model_copy(update={"path": paths["data.path"]})
    if profile.task == "train" and model.is_saved:
        if status(layout.start_model, layout.root) is None:
            raise ProblemError(_no_start_model(layout))
        model = model.model_copy(update={"path": str(layout.start_model.absolute())})
    return profile.model_copy(update={"model": model, "data": data}), code


def _no_start_model(layout: RunLayout) -> Problem:
    return Problem(
        code="model_file_missing",
        field="model.path",
        message=f"{layout.name} has no copy any more of the saved model that it trained further.",
        hint=f"Put it back as {layout.start_model}, or export the profile instead of the run.",
    )


def exported(
    layout: RunLayout,
    wanted: ExportFormat,
    is_cancelled: Callable[[], bool] = lambda: False,
    fill_in: Callable[[Profile], Profile] = with_detected_data,
    nodes: int = 1,
) -> str:
    """A run as a script, a notebook, a report or a batch script.

    Args:
        layout: The run.
        wanted: As which of them.
        is_cancelled: Asked now and then.
        fill_in: Finds in the data what the profile leaves to be found.
        nodes: Of a batch script.

    Raises:
        ProblemError: The run cannot be read, it trains on one node only, or nobody trusted its
            Python code, which whoever runs the script would run.
        ReportCancelledError: So it was asked.
    """
    if wanted is ExportFormat.REPORT:
        # NumPy comes with it: not for every verb of the terminal.
        from gpupanel.runs.report.material import read_material
        from gpupanel.runs.report.page import report_page

        return report_page(read_material(layout, is_cancelled))
    if wanted is ExportFormat.SLURM:
        # Not its plan, which is of this machine.
        profile, code = profile_and_code(layout)
        check_trusted(code)
        return slurm_script(profile, installed_command(), nodes)
    profile, plan, code = profile_of_export(layout)
    check_trusted(code)
    write = notebook if wanted is ExportFormat.NOTEBOOK else stand_alone_script
    return write(fill_in(profile), plan)


def write_run(layout: RunLayout, wanted: ExportFormat, output: Path, cancelled: Event) -> None:
    """Write a run into a file, as :func:`exported` makes it.

    Args:
        layout: The run.
        wanted: As what.
        output: The file.
        cancelled: Set, by any thread, when it is not wanted any more: nothing is written then.

    Raises:
        ProblemError: As of :func:`exported` and :func:`write_exported`.
        ReportCancelledError: So it was asked.
    """
    preview = partial(preview_data, cancelled=cancelled)
    content = exported(
        layout, wanted, cancelled.is_set, lambda profile: with_detected_data(profile, preview)
    )
    if not cancelled.is_set():
        write_exported(output, content)


def write_exported(output: Path, content: str) -> None:
    """Write the file, whole or not at all.

    Raises:
        ProblemError: It cannot be written, it is no regular file, or a part of a run.
    """
    if output.exists():
        check_outside_of_runs(output)
    try:
        write_whole(output, content)
    except OSError as error:
        raise ProblemError(disk_problem(error, output)) from error


def _plan(layout: RunLayout) -> LaunchPlan:
    try:
        plan = read_plan(layout)
        _check(plan)
    except OSError as error:
        raise ProblemError(disk_problem(error, layout.plan)) from error
    except NewerPlanError as error:
        problem = Problem(
            code="run_newer",
            message=f"{layout.name} cannot be exported: its plan was written by a newer gpupanel.",
            hint="Update gpupanel, or export its profile.toml: a new plan is made for that.",
            detail=str(error),
        )
        raise ProblemError(problem) from error
    except (ValueError, LookupError) as error:
        problem = Problem(
            code="run_damaged",
            message=f"{layout.name} cannot be exported: its plan.json is damaged.",
            hint="Export its profile.toml: a new plan is made for that.",
            detail=str(error),
        )
        raise ProblemError(problem) from error
    return plan


def _check(plan: LaunchPlan) -> None:
    """See to it that the plan says nothing that a planner does not.

    Raises:
        ValueError: It does: what other variables do to the programs that a script starts nobody
            knows.
        LookupError: Its parts do not belong together.
    """
    environments = (plan.environment, *(process.environment for process in plan.processes))
    for name in (name for each in environments for name in each):
        if name not in PLANNED_VARIABLES:
            # What others do to the programs that a script starts nobody knows.
            raise ValueError(f"no plan sets the variable {name}")
    places = [each.logical_device for each in plan.replicas]
    places += [each.logical_device for each in plan.places]
    for place in places:
        if not _LOGICAL_DEVICE.fullmatch(place):
            raise ValueError(f"TensorFlow has no device {place}")
    tensorflow_calls(in_one_process(plan))
