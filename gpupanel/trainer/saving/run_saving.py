"""Saves what was learned, and reports it."""

import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Literal

import numpy as np

from gpupanel.domain.best_epoch import Keep
from gpupanel.domain.events import (
    CheckpointSaved,
    ModelSaved,
    Phase,
    ProblemReported,
)
from gpupanel.domain.outcome import ValidatedEpoch
from gpupanel.domain.problem import ProblemError
from gpupanel.files.guarded_files import remove
from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.datasets.learned_from import KnownContent, learned_from
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.learner import Learner
from gpupanel.trainer.saving.best_weights import BestWeights
from gpupanel.trainer.saving.checkpoint_times import ends_with_checkpoint
from gpupanel.trainer.saving.checkpoints import Checkpoints
from gpupanel.trainer.saving.model_saving import save_model
from gpupanel.trainer.saving.position import Position
from gpupanel.trainer.saving.saving_problems import (
    last_not_saved,
    not_finite,
    not_saved,
    other_model_not_saved,
)
from gpupanel.trainer.started_run import StartedRun

Reason = Literal["epoch", "minutes", "request", "end"]


class NotSaved(Exception):  # noqa: N818 - reads as what it says
    """A checkpoint could not be written; the cause says why."""

    def __init__(self, step: int, cause: OSError) -> None:
        super().__init__(str(cause))
        self.step = step
        self.cause = cause


class Saving:
    """Writes checkpoints and the model into the run's directory; only one process of a run does.

    The other processes hold the same weights, bit by bit. Checkpoints are written while the
    training goes on: it would stand still for as long as the disk takes. One that cannot be written
    is reported, and the training goes on, since a later one may be; the last one has to be written.
    """

    def __init__(
        self,
        run: StartedRun,
        learner: Learner,
        events: EventWriter,
        content: KnownContent,
        best: BestWeights | None = None,
    ) -> None:
        """Makes nothing yet.

        Args:
            run: What is trained.
            learner: Its weights are saved.
            events: Where it is reported.
            content: By which the examples are known again.
            best: What the model had in the best epoch, where training goes on after it.
        """
        training = run.profile.training
        self._training = training
        self._learned_from = learned_from(run.profile.data, training.seed, content)
        self._best = best
        self._set_aside: Mapping[str, Array] = {}
        self._leads = run.leads
        self._layout = run.layout
        self._learner = learner
        self._events = events
        self._checkpoints = Checkpoints(
            run.layout.checkpoints,
            kept=training.checkpoints_kept,
            keeps_best=training.keep_best_checkpoint,
        )
        if self._leads:
            self._checkpoints.clean_up()
        minutes = training.checkpoint_every_minutes
        self._every_s = float("inf") if minutes is None else 60.0 * minutes
        self._saved_s = time.monotonic()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="write-checkpoint")
        self._writing: Future[None] | None = None
        self._failed: NotSaved | None = None
        self._reported: set[int | None] = set()

    @property
    def is_due(self) -> bool:
        """Whether the last checkpoint is so old that one should be saved within the epoch."""
        is_idle = self._leads and self._writing is None
        return is_idle and time.monotonic() - self._saved_s >= self._every_s

    def is_due_after(self, epoch: int, *, ends: bool) -> bool:
        """Whether a checkpoint is to be saved at the end of an epoch.

        Args:
            epoch: Which one, from 1.
            ends: It is the last one.
        """
        # Nor is one waited for that is still being written.
        is_idle = self._writing is None or self._writing.done()
        age_s = time.monotonic() - self._saved_s if is_idle else 0.0
        every, gathering = self._training.checkpoint_every_epochs, self._learner.gathering
        is_due = ends_with_checkpoint(every, epoch, age_s, ends=ends)
        return is_due if gathering is None else gathering.of_leader(wanted=is_due)

    def save_checkpoint(self, position: Position, reason: Reason) -> None:
        """Begin to save a checkpoint of this position, when the one before is written.

        Raises:
            ProblemError: A weight of the one before is not finite; what was saved before that
                is better and stays.
            OSError: An event cannot be written.
        """
        if not self._leads:
            if self._learner.gathering is not None:
                self._learner.state()
            return
        start_s = time.monotonic()
        self._events.phase(Phase.SAVING)
        self.check(wait=True)
        if reason == "request":
            # Who asks is answered, also where it fails as it did before.
            self._reported.clear()
        # While those of the best epoch are tested, the training still stands at the last ones.
        state = {**self._learner.state(), **self._set_aside}
        self._saved_s = time.monotonic()
        self._writing = self._thread.submit(
            self._write, state, position, self._best, reason, start_s, self._saved_s - start_s
        )

    def _write(
        self,
        state: Mapping[str, Array],
        position: Position,
        best: BestWeights | None,
        reason: Reason,
        start_s: float,
        stalled_s: float,
    ) -> None:
        if not all(np.isfinite(array).all() for array in state.values()):
            raise not_finite("weights", position)
        try:
            saved = self._checkpoints.save(state, position, best)
        except OSError as error:
            raise NotSaved(position.step, error) from error
        self._events.write(
            CheckpointSaved(
                time_s=time.time(),
                path=str(saved.place.relative_to(self._layout.root)),
                epoch=position.epoch if position.step_in_epoch else position.epoch - 1,
                step=position.step,
                seconds=time.monotonic() - start_s,
                stalled_s=stalled_s,
                reason=reason,
                is_best=saved.is_best,
            )
        )

    def check(self, *, wait: bool = False) -> None:
        """Hear how a checkpoint was written as soon as that is known, while training goes on.

        Args:
            wait: Until it is known.

        Raises:
            ProblemError: A weight of it is not finite.
            OSError: An event cannot be written.
        """
        if self._writing is None or not (wait or self._writing.done()):
            return
        self.settle()
        failed = self._failed
        # Once as long as it fails for the same cause.
        if failed is not None and failed.cause.errno not in self._reported:
            self._reported.add(failed.cause.errno)
            problem = not_saved(failed.step, failed.cause)
            self._events.write(ProblemReported(time_s=time.time(), problem=problem))

    def settle(self) -> None:
        """Wait until the last checkpoint is written, or cannot be.

        Raises:
            ProblemError: A weight of it is not finite.
            OSError: An event cannot be written.
        """
        writing, self._writing = self._writing, None
        if writing is None:
            return
        try:
            writing.result()
        except NotSaved as failed:
            self._failed = failed
        else:
            self._failed = None
            self._reported.clear()

    def close(self) -> None:
        """Wait until what was begun is written; nothing can be saved afterwards.

        Its error is not reported: whoever still needs the checkpoint has called :meth:`finish`.
        """
        self._thread.shutdown()

    def hold_best(self, epoch: ValidatedEpoch) -> None:
        """Copy the weights of this moment: they are those of the best epoch so far."""
        if self._training.stores_best:
            self._best = BestWeights(epoch, self._learner.weights())

    def kept_epoch(self, position: Position) -> ValidatedEpoch | None:
        """The epoch whose weights the model has, where these are not those of the last step."""
        best = self._best
        if self._training.keep is Keep.LAST or best is None or best.epoch.step == position.step:
            return None
        return best.epoch

    @contextmanager
    def kept_weights(self, position: Position) -> Iterator[None]:
        """Within it the learner has the weights that are kept; afterwards those of the last step.

        Args:
            position: Where the training stands.
        """
        if self.kept_epoch(position) is None:
            yield
        else:
            with self._best_weights():
                yield

    @contextmanager
    def _best_weights(self) -> Iterator[None]:
        assert self._best is not None
        self._set_aside = self._learner.weights()
        self._learner.put_weights(self._best.weights)
        try:
            yield
        finally:
            self._learner.put_weights(self._set_aside)
            self._set_aside = {}

    def save_model(self, position: Position) -> None:
        """Save ``model.keras``, when the last checkpoint is written, or cannot be.

        Beside it a second model gets the weights that are not kept, where they are others.

        Args:
            position: Where the training stands.

        Raises:
            ProblemError: A weight of the last checkpoint is not finite.
            OSError: The model cannot be written.
        """
        if not self._leads:
            return
        self._events.phase(Phase.SAVING)
        self.settle()
        # What an earlier start of the run left there belongs to another model.
        for is_best in (True, False):
            remove(self._layout.other_model(is_best=is_best))
        path, kept, best = self._layout.model, self.kept_epoch(position), position.best
        with self.kept_weights(position):
            save_model(self._learner, path, self._learned_from)
        last_epoch = position.epoch - 1
        last_is_best = best is not None and best.step == position.step
        other: tuple[str, int] | None = None
        if kept is not None:
            other = self._save_other(last_epoch, is_best=False)
        elif self._best is not None and not last_is_best:
            with self._best_weights():
                other = self._save_other(self._best.epoch.epoch, is_best=True)
        saved = ModelSaved(
            time_s=time.time(),
            path=path.name,
            size_bytes=path.stat().st_size,
            epoch=last_epoch if kept is None else kept.epoch,
            is_best=kept is not None or last_is_best,
            is_last=kept is None,
            other_path="" if other is None else other[0],
            other_epoch=None if other is None else other[1],
        )
        self._events.write(saved)

    def _save_other(self, epoch: int, *, is_best: bool) -> tuple[str, int] | None:
        """Save the weights that are not kept; without them the training has its model, too.

        Returns:
            The file's name and the epoch; ``None`` where it could not be written.
        """
        path = self._layout.other_model(is_best=is_best)
        try:
            save_model(self._learner, path, self._learned_from)
        except OSError as error:
            problem = other_model_not_saved(error, is_best=is_best)
            self._events.write(ProblemReported(time_s=time.time(), problem=problem))
            return None
        return path.name, epoch

    def finish(self, position: Position) -> None:
        """See to it that the checkpoint of the end stands, if one was wanted.

        Raises:
            ProblemError: It could not be written.
            OSError: An event cannot be written.
        """
        self.settle()
        failed = self._failed
        if failed is not None and failed.step == position.step:
            raise ProblemError(last_not_saved(failed.step, failed.cause)) from failed
