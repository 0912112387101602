"""Going on from the last checkpoint of a run."""

import time
from pathlib import Path

from gpupanel.domain.events import ProblemReported, TrainingResumed
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.learner import Learner
from gpupanel.trainer.saving.checkpoints import Checkpoints, Damage
from gpupanel.trainer.saving.position import Position
from gpupanel.trainer.started_run import StartedRun


def restore_latest(run: StartedRun, learner: Learner, events: EventWriter) -> Position:
    """Put the newest whole checkpoint of the run, if it has one, into the learner, and report it.

    Damaged ones are passed over, and reported.

    Returns:
        Where training goes on: its beginning when there is no checkpoint.

    Raises:
        ProblemError: The checkpoint is one of another model, or cannot be read now.
    """
    layout = run.layout
    try:
        found = Checkpoints(layout.checkpoints).newest_whole()
    except OSError as error:
        raise ProblemError(_unreadable(error)) from error
    checkpoint = found.checkpoint
    if run.leads:
        for damage in found.damaged:
            used = None if checkpoint is None else checkpoint.position.step
            events.write(ProblemReported(time_s=time.time(), problem=_damaged(damage, used)))
    if checkpoint is None:
        return Position()
    learner.restore(checkpoint.state)
    events.write(
        TrainingResumed(
            time_s=time.time(),
            path=str(checkpoint.place.relative_to(layout.root)),
            epoch=checkpoint.position.epoch,
            step=checkpoint.position.step,
        )
    )
    return checkpoint.position


def _unreadable(error: OSError) -> Problem:
    name = Path(error.filename).name
    return Problem(
        code="checkpoint_unreadable",
        message=f"The run's checkpoint {name} cannot be read now: {error.strerror}. Nothing was "
        "changed.",
        hint="Resume the run again when its disk answers and its files can be read. If they are "
        f"lost for good, delete the folder {error.filename}: the run continues from the "
        "previous checkpoint.",
        detail=str(error),
    )


def _damaged(damage: Damage, used_step: int | None) -> Problem:
    instead = (
        "no earlier one is intact, so the training starts from the beginning"
        if used_step is None
        else f"the training continues from that of step {used_step:,}"
    )
    return Problem(
        code="checkpoint_damaged",
        severity=Severity.WARNING,
        message=f"The checkpoint {damage.place.name} is damaged: its files differ from what was "
        f"written; {instead}.",
        hint="Check the health of the disk; the damaged one is deleted when the next one is saved.",
        detail=f"{damage.place}\n{damage.detail}",
    )
