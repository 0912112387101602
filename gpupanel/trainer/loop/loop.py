"""The one loop: every strategy, every split, every data set."""

import math
import time
from contextlib import closing

from gpupanel.domain.events import (
    EpochDone,
    EpochsFitted,
    FineTuningBegan,
    Phase,
    ProblemReported,
)
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.problem import Problem
from gpupanel.domain.strategy import StrategyKind
from gpupanel.trainer.balancing.balancing import make_balancing
from gpupanel.trainer.datasets.examples import Examples, Indices
from gpupanel.trainer.datasets.split import Split
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.interruptions import Interruption, Interruptions
from gpupanel.trainer.learner import Learner
from gpupanel.trainer.loop.call_batches import batches_of_calls
from gpupanel.trainer.loop.call_loop import CallLoop, Work
from gpupanel.trainer.loop.calls_in_flight import FinishedCall
from gpupanel.trainer.loop.consensus import Pace, Vote, make_consensus
from gpupanel.trainer.loop.early_stopping import after_epoch, reason_to_stop
from gpupanel.trainer.loop.measured_sets import MeasuredSets
from gpupanel.trainer.loop.memory_reports import MemoryReports
from gpupanel.trainer.loop.time_account import TimeAccount
from gpupanel.trainer.loop.training_time import TrainingTime
from gpupanel.trainer.loop.validation_predictions import ValidationPredictions
from gpupanel.trainer.progress import StepReports, TrainingRecord, added
from gpupanel.trainer.saving.restoring import Restored
from gpupanel.trainer.saving.run_saving import Reason, Saving
from gpupanel.trainer.saving.saving_problems import not_finite
from gpupanel.trainer.saving.tensorboard import TensorBoardFiles
from gpupanel.trainer.started_run import StartedRun
from gpupanel.trainer.steps.order import make_epoch_order
from gpupanel.trainer.steps.step_calls import StepCalls
from gpupanel.trainer.tracing.step_trace import StepTrace

_LARGEST_READ_ON = 2**22
"""Examples of an epoch at whose end those of the next one are read ahead: in a longer one it makes
no difference, and their order has to be held, too."""


class TrainingLoop:
    """Trains epoch by epoch until the last one, early stopping, or an interruption."""

    def __init__(
        self,
        run: StartedRun,
        split: Split,
        learner: Learner,
        events: EventWriter,
        interruptions: Interruptions,
        record: TrainingRecord,
        restored: Restored,
    ) -> None:
        self._plan = run.plan
        self._time = TrainingTime(run.profile.training, restored.position)
        self._settings = run.profile.training
        self._wanted_epochs = run.profile.training.epochs
        self._order = make_epoch_order(run.profile.data, split, run.profile.training.seed)
        self._layout = run.layout
        self._split = split
        self._learner = learner
        self._events = events
        self._interruptions = interruptions
        self._consensus = make_consensus(run, interruptions)
        self._record = record
        self._validates = learner.validation_calls is not None and split.validation is not None
        self._leads = run.leads
        self._is_asynchronous = run.plan.strategy is StrategyKind.PARAMETER_SERVER
        self._saving = Saving(run, learner, events, split.content, restored.best)
        self._position = position = restored.position
        self._is_first_call = True
        self._period = learner.periods[0]
        self._balancing = make_balancing(run, learner, events)
        self._reports = StepReports(events, learner.objective)
        self._times = TimeAccount(events, record, len(run.plan.replicas))
        self._memory = MemoryReports(run, events)
        self._predictions = ValidationPredictions(run, split, learner, events, position.epoch)
        self._trace = StepTrace(run)
        self._calls = CallLoop(run.plan, self._consensus, self._interruption, self._vote)
        self._training_pace = Pace()
        self._sets = MeasuredSets(run.plan, learner, events, self._calls)
        self._must_trace = False
        fitted = position.epochs_within(self._settings.time_limit_s)
        if fitted is not None:
            self._end_after(fitted)
        if position.step:
            record.metrics = position.metrics if position.epoch > 1 else self._epoch_metrics()

    def train(self) -> Interruption | None:
        """Train to the end and save the model, except of a training that is suspended.

        Returns:
            What ended the training early; ``None`` when it came to its end.

        Raises:
            ProblemError: The loss is not finite any more, an example cannot be read, or the last
                checkpoint cannot be written.
            OSError: Something cannot be written.
        """
        if self._balancing is not None:
            self._balancing.measure(self._position.step)
        files = TensorBoardFiles(self._layout.tensorboard, self._events)
        with closing(self._saving), files as board, self._calls.in_flight:
            interruption = self._train_epochs(board)
            self._trace.finish()
            self._times.report(self._position.step, now=True)
            self._memory.report(now=True)
            is_trained = interruption is None
            is_within = self._position.step_in_epoch > 0
            self._predictions.finish(None if is_within else self._position.epoch - 1)
            if is_trained:
                # First: whatever the test set does, the model stands.
                self._save_model()
                with self._saving.kept_weights(self._position):
                    interruption = self._test()
            if interruption is not None:
                self._saving.save_checkpoint(self._position, "end")
            if interruption is Interruption.SUSPEND:
                self._saving.settle()
                if self._interruptions.is_stopped():
                    # Asked while that was written: who stops wants the model, too.
                    interruption = Interruption.STOP
            if interruption is not Interruption.SUSPEND and not is_trained:
                self._save_model()
            self._saving.finish(self._position)
        return interruption

    def _train_epochs(self, board: TensorBoardFiles) -> Interruption | None:
        while self._position.epoch <= self._settings.epochs:
            # Checked before the epoch: a checkpoint may be of just this moment.
            reason = self._reason_to_stop()
            if reason is not None:
                self._events.write(ProblemReported(time_s=time.time(), problem=reason))
                return None
            epoch = self._position.epoch
            # Only where another one follows: a training that has come to its end is not suspended.
            self._interruptions.end_epoch(epoch - 1)
            interruption = self._do_epoch(board)
            if interruption is Interruption.TIME_IS_UP:
                self._save_checkpoint("end")
                break
            if interruption is not None:
                return interruption
            self._fit_epochs()
            ends = epoch == self._settings.epochs or self._reason_to_stop() is not None
            if self._saving.is_due_after(epoch, ends=ends):
                self._save_checkpoint("epoch")
        if self._position.epoch <= self._wanted_epochs:
            ending = self._time.ending(self._position)
            self._events.write(ProblemReported(time_s=time.time(), problem=ending))
        return None

    def _fit_epochs(self) -> None:
        """Decide at the end of an epoch how many fit into the time limit, if that is known now."""
        trained_s = self._consensus.trained_s(self._time.own_s)
        before = self._position.model_copy(update={"trained_s": trained_s})
        self._position = self._time.fitted(before)
        limit_s = self._settings.time_limit_s
        fitted = self._position.epochs_within(limit_s)
        if fitted is None or before.epochs_within(limit_s) is not None:
            return
        self._end_after(fitted)
        self._must_trace = self._learner.train_for(fitted)
        if fitted < self._wanted_epochs:
            decision = self._time.decision(fitted, self._position.epoch - 1)
            self._events.write(ProblemReported(time_s=time.time(), problem=decision))

    def _end_after(self, epochs: int) -> None:
        """Train so many epochs, and no more."""
        self._settings = self._settings.model_copy(update={"epochs": epochs})
        self._events.write(EpochsFitted(time_s=time.time(), epochs=epochs))

    def _reason_to_stop(self) -> Problem | None:
        return reason_to_stop(self._position, self._settings, validates=self._validates)

    def _do_epoch(self, board: TensorBoardFiles) -> Interruption | None:
        """Train, validate where that is due, and report one epoch, and turn to the next."""
        start_s = time.monotonic()
        interruption = self._train_epoch()
        if interruption is not None:
            return interruption
        metrics, measured = self._epoch_metrics(), self._validate()
        if isinstance(measured, Interruption):
            # Its last steps may not have been reported yet.
            self._report_steps(now=True)
            return measured
        metrics = metrics.with_part("val", measured)
        done = EpochDone(
            time_s=time.time(),
            epoch=self._position.epoch,
            step=self._position.step,
            metrics=metrics,
            seconds=time.monotonic() - start_s,
        )
        self._record.metrics = metrics
        self._record.epochs += 1
        schedule, metric = self._settings.schedule, self._settings.best_metric
        self._position = after_epoch(
            self._position, metrics, schedule, metric, validates=self._validates
        )
        best = self._position.best
        is_best = best is not None and best.step == self._position.step
        if best is not None and is_best:
            self._saving.hold_best(best)
        done = done.model_copy(update={"is_best": is_best})
        if self._settings.schedule.follows_loss:
            self._learner.lower_rate(self._position.rate_factor)
        self._events.write(done)
        if self._settings.tensorboard and self._leads:
            board.write_epoch(done.epoch, metrics)
        return None

    def _validate(self) -> Metrics | Interruption:
        """Metrics of the validation set after an epoch that has a turn; of another epoch none."""
        epoch, learner = self._position.epoch, self._learner
        if not (self._validates and self._settings.validates_after(epoch)):
            return Metrics()
        with self._times.validating():
            measured = self._measured(
                learner.validation_calls, self._split.validation, Phase.VALIDATING
            )
            if not isinstance(measured, Interruption):
                self._predictions.end_epoch(epoch)
        return measured

    def _begin_epoch(self) -> Indices:
        """Turn to the epoch of the position; gives its examples."""
        position, learner = self._position, self._learner
        order = self._order.of(position.epoch)
        must_trace, self._must_trace = self._must_trace, False
        if learner.turn_to(position.epoch) or must_trace:
            # That takes long, and is no step.
            self._events.phase(Phase.TRACING)
            learner.calls.trace()
            self._is_first_call = True
            if self._balancing is not None:
                self._balancing.measure(position.step)
        if learner.period is not self._period:
            self._period = learner.period
            self._events.write(
                FineTuningBegan(
                    time_s=time.time(),
                    epoch=self._period.from_epoch,
                    layers=self._period.layers,
                    trainable_parameters=self._period.parameters,
                    learning_rate=learner.curve.at(position.step) * position.rate_factor,
                )
            )
        learner.begin_epoch(position.epoch, len(order))
        return order

    def _train_epoch(self) -> Interruption | None:
        position, settings = self._position, self._settings
        order = self._begin_epoch()
        calls, first = self._learner.calls, position.step_in_epoch
        then = None
        if position.epoch < settings.epochs and len(order) <= _LARGEST_READ_ON:
            then = self._order.of(position.epoch + 1)
        size, pace = self._plan.global_batch_size, self._training_pace
        batches = batches_of_calls(calls, order, size, pace, first_step=first, then=then)
        work = Work(
            calls.of,
            pace,
            self._learned,
            before=lambda place, steps: self._before_call(steps, len(order) - place),
            ends=self._end_of_time,
            # Nothing is under way between two epochs, so that all steps before are counted.
            first_step=position.step - first,
        )
        self._events.phase(Phase.TRAINING)
        interruption = self._calls.make(batches, work)
        # Validation is no step.
        self._trace.finish()
        if interruption is not None or position.epoch == settings.epochs:
            self._report_steps(now=True)
        return interruption

    def _before_call(self, batches: Indices, left: int) -> bool:
        """Measure or trace what is to be; whether these steps are traced by themselves.

        Args:
            batches: Of the call.
            left: Examples of the epoch, these included: a trace of more steps waits for the next.
        """
        # After a checkpoint.
        self._events.phase(Phase.TRAINING)
        if self._balancing is not None and self._balancing.wants_trial:
            self._calls.settle()
            self._balancing.try_again(self._position.step)
        # In the first one TensorFlow still optimises the graph.
        if self._is_first_call or self._is_asynchronous or not self._trace.is_wanted:
            self._training_pace.most_steps = None
            return False
        # What several processes compute none of them waits for by itself.
        is_alone = self._consensus.is_alone
        if is_alone:
            self._calls.settle()
        position, steps_left = self._position, None
        if position.step_in_epoch and position.epoch < self._settings.epochs:
            steps_left = -(-left // self._plan.global_batch_size)
        self._trace.begin_call(position.step, len(batches), steps_left)
        self._training_pace.most_steps = self._trace.most_steps
        return is_alone

    def _learned(self, finished: FinishedCall, took_s: float) -> None:
        self._trace.end_call(finished.sums.steps)
        self._add(finished, took_s)
        given = finished.given
        if self._balancing is not None and given.shares == self._learner.calls.shares:
            self._balancing.saw(finished.sums, given.batch_size, self._position.step)
        self._report_steps()

    def _add(self, finished: FinishedCall, took_s: float) -> None:
        """Count what a call did in so many seconds."""
        before, sums, examples = self._position, finished.sums, finished.given.examples
        done = {
            "trained_s": self._consensus.trained_s(self._time.own_s),
            "step": before.step + sums.steps,
            "step_in_epoch": before.step_in_epoch + sums.steps,
            "epoch_examples": before.epoch_examples + examples,
        }
        epoch_sums = added(before.epoch_sums, sums.sums)
        if not all(map(math.isfinite, epoch_sums)):
            # No position holds them: it would be a checkpoint that nothing can go on from.
            raise not_finite("loss", before.model_copy(update=done))
        scale = self._learner.loss_scale
        # It falls with an update that is left out, which has no norm: nobody waits for it else.
        is_left_out = not all(map(math.isfinite, sums.of_updates.values()))
        if scale is not None and is_left_out and scale.is_spent:
            raise not_finite("gradients", before.model_copy(update=done))
        self._position = before.model_copy(update={**done, "epoch_sums": epoch_sums})
        self._reports.add(
            sums.steps,
            examples,
            sums.sums,
            took_s,
            sums.waited_s,
            of_updates=sums.of_updates,
        )
        self._record.examples_trained += examples
        if not self._is_first_call:
            # TensorFlow still optimises the graph in the first one.
            self._record.examples += examples
            self._record.training_s += took_s
            self._record.waited_s = (self._record.waited_s or 0.0) + sums.waited_s
            self._count_time(finished)
        else:
            self._times.restart()
        self._is_first_call = False
        if self._position.epoch == 1:
            self._record.metrics = self._epoch_metrics()

    def _count_time(self, finished: FinishedCall) -> None:
        if self._is_asynchronous:
            self._times.add_asynchronous(finished.sums)
        else:
            self._times.add(finished.sums, finished.computed_s)
            self._memory.report()
        self._times.report(self._position.step)

    def _save_model(self) -> None:
        """Save the model; its metrics are those of the run from now on."""
        self._saving.save_model(self._position)
        kept = self._saving.kept_epoch(self._position)
        if kept is not None:
            self._record.metrics, self._record.kept_epoch = kept.metrics, kept.epoch
        elif not self._position.step_in_epoch:
            self._record.kept_epoch = self._position.epoch - 1 or None

    def _test(self) -> Interruption | None:
        """Measure the trained model on a test set that did not validate."""
        measured = self._measured(self._learner.test_calls, self._split.test, Phase.TESTING)
        if isinstance(measured, Interruption):
            return measured
        self._record.metrics = self._record.metrics.with_part("test", measured)
        return None

    def _measured(
        self, calls: StepCalls | None, examples: Examples | None, phase: Phase
    ) -> Metrics | Interruption:
        """Metrics of a whole set, without a prefix; none where there is no such set."""
        if calls is None or examples is None:
            return Metrics()
        return self._sets.measure(calls, len(examples), phase, self._position)

    def _interruption(self) -> Interruption | None:
        """What ends the training now; a checkpoint that is wanted or due is saved on the way."""
        self._saving.check()
        pending, is_alone = self._consensus.pending(), self._consensus.is_alone
        is_due = self._saving.is_due
        if pending is None and not (is_due and is_alone):
            return None
        self._calls.settle()
        self._consensus.forget()
        if pending is None:
            self._save_checkpoint("minutes")
        if pending is not Interruption.CHECKPOINT:
            return pending
        self._save_checkpoint("request" if is_alone or not is_due else "minutes")
        return None

    def _end_of_time(self) -> Interruption | None:
        """What ends the training before its next step where that has no time left."""
        if not self._position.step:
            return None  # a model that has learned nothing is none
        trained_s = self._consensus.trained_s(self._time.own_s)
        return Interruption.TIME_IS_UP if self._time.is_up(trained_s) else None

    def _vote(self, pace: Pace) -> Vote:
        """What this process hands in with a call: also that a checkpoint is due."""
        return self._consensus.vote(
            pace, checkpoint=self._saving.is_due, trained_s=self._time.own_s
        )

    def _save_checkpoint(self, reason: Reason) -> None:
        with self._times.saving():
            self._saving.save_checkpoint(self._position, reason)

    def _report_steps(self, *, now: bool = False) -> None:
        position = self._position
        rate = self._learner.curve.at(max(0, position.step - 1)) * position.rate_factor
        self._reports.report(
            position.step, position.epoch, position.step_in_epoch, learning_rate=rate, now=now
        )

    def _epoch_metrics(self) -> Metrics:
        position = self._position
        return self._learner.objective.metrics(position.epoch_sums, position.epoch_examples)
