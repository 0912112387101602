"""Saves what was learned, and tells so."""

import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from gpupanel.domain.events import CheckpointSaved, ModelSaved, Phase
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.learner import Learner
from gpupanel.trainer.loop.position import Position
from gpupanel.trainer.saving.checkpoints import Checkpoints
from gpupanel.trainer.saving.saved_model import save_model
from gpupanel.trainer.started_run import StartedRun


class Saving:
    """Writes checkpoints and the model into the run's directory; only one process of a run does.

    The others hold the same weights, bit by bit. Checkpoints are written while the training goes
    on: it would stand still for as long as the disk takes.
    """

    def __init__(self, run: StartedRun, learner: Learner, events: EventWriter) -> None:
        self._leads = run.leads
        self._layout = run.layout
        self._learner = learner
        self._events = events
        self._checkpoints = Checkpoints(run.layout.checkpoints)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="write-checkpoint")
        self._writing: Future[None] | None = None

    def save_checkpoint(self, position: Position) -> None:
        """Begin to save a checkpoint of this position, when the one before is written.

        Raises:
            ProblemError: A weight is not finite; what was saved before is better and stays.
            OSError: The one before could not be written.
        """
        if not self._leads:
            return
        self._events.phase(Phase.SAVING)
        self._finish_writing()
        start_s = time.monotonic()
        # Copies: the next step changes the variables.
        state = {name: np.array(array) for name, array in self._learner.state().items()}
        if not all(np.isfinite(array).all() for array in state.values()):
            raise not_finite("weights", position)
        self._writing = self._thread.submit(self._write, state, position, start_s)

    def _write(self, state: Mapping[str, Array], position: Position, start_s: float) -> None:
        place = self._checkpoints.save(state, position)
        self._events.write(
            CheckpointSaved(
                time_s=time.time(),
                path=str(place.relative_to(self._layout.root)),
                epoch=position.epoch if position.step_in_epoch else position.epoch - 1,
                step=position.step,
                seconds=time.monotonic() - start_s,
            )
        )

    def check(self) -> None:
        """Hear of a checkpoint that could not be written as soon as that is known.

        Raises:
            OSError: It could not.
        """
        if self._writing is not None and self._writing.done():
            self._finish_writing()

    def _finish_writing(self) -> None:
        writing, self._writing = self._writing, None
        if writing is not None:
            writing.result()

    def close(self) -> None:
        """Wait until what was begun is written; nothing can be saved afterwards.

        Its error is not told: whoever still needs the checkpoint has called :meth:`save_model`.
        """
        self._thread.shutdown()

    def save_model(self) -> None:
        """Save ``model.keras``, when the last checkpoint is written.

        Raises:
            OSError: One of them cannot be written.
        """
        if not self._leads:
            return
        self._events.phase(Phase.SAVING)
        self._finish_writing()
        save_model(self._learner.built, self._layout.model)
        self._events.write(ModelSaved(time_s=time.time(), path=self._layout.model.name))


def not_finite(what: str, position: Position) -> ProblemError:
    """The problem of a training that has run into numbers that are none.

    Args:
        what: The loss, the validation loss, the weights.
        position: Its step is the first that shows it.
    """
    return ProblemError(
        Problem(
            code="loss_not_finite",
            field="training.learning_rate",
            message=f"NaN or infinity in the {what} at step {position.step:,} (epoch "
            f"{position.epoch}), so training ended; nothing would be learned from there on.",
            hint="Lower the learning rate, or look for extreme values in the data; the last "
            "complete checkpoint is kept.",
        )
    )
