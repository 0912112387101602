"""Going on from the last checkpoint of a run."""

import time
from dataclasses import dataclass
from pathlib import Path

from gpupanel.domain.events import ProblemReported, TrainingResumed
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.learner import Learner
from gpupanel.trainer.saving.best_weights import BestWeights
from gpupanel.trainer.saving.checkpoint_files import Checkpoint, CheckpointDamaged
from gpupanel.trainer.saving.checkpoints import Checkpoints, Damage
from gpupanel.trainer.saving.position import Position
from gpupanel.trainer.started_run import StartedRun


@dataclass(frozen=True, slots=True)
class Restored:
    """Where training goes on.

    Attributes:
        position: Its beginning when there is no checkpoint.
        best: What the model had in the best epoch until there; ``None``: nothing was validated, or
            its weights were not kept.
    """

    position: Position
    best: BestWeights | None = None


def restore_latest(run: StartedRun, learner: Learner, events: EventWriter) -> Restored:
    """Put the newest whole checkpoint of the run, if it has one, into the learner, and report it.

    Damaged ones are passed over, and reported.

    Raises:
        ProblemError: The checkpoint is one of another model, or cannot be read now.
    """
    layout = run.layout
    checkpoints = Checkpoints(layout.checkpoints)
    try:
        found = checkpoints.newest_whole()
    except OSError as error:
        raise ProblemError(_unreadable(error)) from error
    checkpoint = found.checkpoint
    if run.leads:
        for damage in found.damaged:
            used = None if checkpoint is None else checkpoint.position.step
            events.write(ProblemReported(time_s=time.time(), problem=_damaged(damage, used)))
    if checkpoint is None:
        return Restored(Position())
    learner.restore(checkpoint.state)
    restored = Restored(checkpoint.position)
    if run.profile.training.stores_best:
        restored = _with_best(checkpoints, checkpoint, learner, run, events)
    events.write(
        TrainingResumed(
            time_s=time.time(),
            path=str(checkpoint.place.relative_to(layout.root)),
            epoch=checkpoint.position.epoch,
            step=checkpoint.position.step,
            best=restored.position.best,
        )
    )
    return restored


def _with_best(
    checkpoints: Checkpoints,
    checkpoint: Checkpoint,
    learner: Learner,
    run: StartedRun,
    events: EventWriter,
) -> Restored:
    """With the weights of the best epoch until there; the learner has those of the checkpoint.

    Raises:
        ProblemError: They cannot be read now.
    """
    position = checkpoint.position
    if position.best is None:
        position = checkpoints.with_best_saved(position)
    best, place = position.best, position.best_place
    if best is None:
        return Restored(position)
    if best.step == position.step:
        return Restored(position, BestWeights(best, learner.weights(), checkpoint.place.name))
    try:
        weights = learner.weights_in(checkpoints.read_best(place).state)
    except (CheckpointDamaged, KeyError) as damage:
        if run.leads:
            problem = _best_lost(best.epoch, str(damage))
            events.write(ProblemReported(time_s=time.time(), problem=problem))
        return Restored(position.model_copy(update={"best": None, "best_place": ""}))
    except OSError as error:
        raise ProblemError(_unreadable(error)) from error
    return Restored(position, BestWeights(best, weights, place))


def _best_lost(epoch: int, detail: str) -> Problem:
    return Problem(
        code="best_weights_lost",
        severity=Severity.WARNING,
        message=f"The weights of the best epoch until now, {epoch}, were not kept or are damaged; "
        "the best one is searched for among the epochs from here on.",
        hint="If the model of that epoch is needed, start a new run; check the health of the disk "
        "where nobody deleted files of the run.",
        detail=detail,
    )


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
