"""Whether a file belongs to a run, whose record stays, and whether a run has a checkpoint."""

from pathlib import Path

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import check_folder


def run_of_file(path: Path) -> RunLayout | None:
    """The run in whose directory a file stands, or would stand; ``None``: in that of none.

    A directory is a run's by what is in it, wherever it was copied to: a plan or events. Further
    up, where a file of that name may be anything, both of them and a profile have to be there.

    Args:
        path: Of a file that need not be there; both where it stands and where a link in its way
            leads to are checked.
    """
    for place in (path.absolute(), _resolved(path)):
        nearest, *farther = place.parents
        if _holds_part_of_run(nearest):
            return RunLayout(nearest)
        for folder in farther:
            if _holds_run(folder):
                return RunLayout(folder)
    return None


def check_outside_of_runs(path: Path) -> None:
    """See to it that a file that a person wants to write is no part of a run.

    Raises:
        ProblemError: It is, and would change what the run says of itself.
    """
    run = run_of_file(path)
    if run is None:
        return
    raise ProblemError(
        Problem(
            code="inside_a_run",
            message=f"{path} is in the folder of the run {run.name}, whose record stays as it is.",
            hint="Save it in another folder; a run's own settings open as a copy.",
        )
    )


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path.absolute()  # a loop of links


def _holds_part_of_run(folder: Path) -> bool:
    layout = RunLayout(folder)
    return layout.plan.exists() or layout.events.exists()


def _holds_run(folder: Path) -> bool:
    layout = RunLayout(folder)
    return layout.plan.exists() and layout.events.exists() and layout.profile.exists()


def has_checkpoint(layout: RunLayout) -> bool:
    """Whether a run has something to go on from; what is half written has another name."""
    try:
        return check_folder(layout.checkpoints) and any(layout.checkpoints.glob("step-*"))
    except OSError:
        return False  # a link in its place leads to checkpoints of something else
