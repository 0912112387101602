"""How far a run is that goes on."""

from gpupanel.domain.events import DataReady, ExamplesDone, StepsDone
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.profile_file import read_run_profile
from gpupanel.runs.history.event_ends import EventEnds
from gpupanel.runs.history.run_summary import RunProgress


def read_progress(layout: RunLayout, task: str) -> tuple[RunProgress | None, float | None]:
    """How far the run is, and its examples per second over the last steps.

    Args:
        layout: A run that goes on.
        task: ``train``, ``evaluate`` or ``predict``.

    Returns:
        ``None`` for what it has not told yet, or not lately.
    """
    try:
        ends = EventEnds(layout.events)
        return _trained(layout, ends) if task == "train" else _judged(ends)
    except OSError:
        return None, None


def _judged(ends: EventEnds) -> tuple[RunProgress | None, float | None]:
    found = ends.last_of(ExamplesDone)
    if found is None:
        return None, None
    done = found[1]
    progress = RunProgress(step=done.examples, step_total=done.examples_total)
    return progress, done.examples_per_second


def _trained(layout: RunLayout, ends: EventEnds) -> tuple[RunProgress | None, float | None]:
    found, data = ends.last_of(StepsDone), ends.first_of(DataReady)
    if found is None:
        return None, None
    steps, epochs = found[1], _epochs(layout)
    total = None if data is None or epochs is None else data.steps_per_epoch * epochs
    progress = RunProgress(epoch=steps.epoch, epoch_total=epochs, step=steps.step, step_total=total)
    return progress, steps.examples_per_second


def _epochs(layout: RunLayout) -> int | None:
    try:
        return read_run_profile(layout).epochs_to_train
    except ProblemError:
        return None
