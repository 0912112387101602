"""Going on from the last checkpoint of a run."""

import time

from gpupanel.domain.events import TrainingResumed
from gpupanel.domain.run_layout import RunLayout
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.learner import Learner
from gpupanel.trainer.loop.position import Position
from gpupanel.trainer.saving.checkpoints import Checkpoints


def restore_latest(layout: RunLayout, learner: Learner, events: EventWriter) -> Position:
    """Put the newest checkpoint of the run, if it has one, into the learner, and tell so.

    Returns:
        Where training goes on: its beginning when there is no checkpoint.

    Raises:
        ProblemError: The checkpoint cannot be read, or is one of another model.
    """
    found = Checkpoints(layout.checkpoints).latest()
    if found is None:
        return Position()
    state, position, place = found
    learner.restore(state)
    events.write(
        TrainingResumed(
            time_s=time.time(),
            path=str(place.relative_to(layout.root)),
            epoch=position.epoch,
            step=position.step,
        )
    )
    return position
