"""The state of a run: the sum of its events."""

import sys
from array import array
from collections.abc import Iterable
from enum import StrEnum
from itertools import islice
from typing import Any, Self, assert_never

from pydantic import BaseModel, Field

from gpupanel.domain import events
from gpupanel.domain.clock_jumps import SkippedTime
from gpupanel.domain.energy import RunEnergy
from gpupanel.domain.event_details import PlacedLayer, ReplicaSpeed
from gpupanel.domain.events import Event, Phase
from gpupanel.domain.outcome import Metrics, Outcome, SavedWork
from gpupanel.domain.problem import Problem
from gpupanel.domain.request import Request
from gpupanel.domain.time_spent import TimeSpent
from gpupanel.domain.value import Value
from gpupanel.runs.following.figures import FigureBatch
from gpupanel.runs.following.run_clock import set_back_s
from gpupanel.runs.following.steps import Floats, StepBatch

_INFERENCE = (Phase.EVALUATING, Phase.PREDICTING)
_EPOCHS = ("training", "epochs")
_MOST_FINDINGS = 100
_MOST_PROBLEMS = 200
"""More than anybody reads; each further one copies them all."""
"""More kinds than there are: a stranger's file has no end."""
_RUNNING = (Phase.TRAINING, Phase.VALIDATING, Phase.TESTING, Phase.RUNNING, *_INFERENCE)


class Download(Value):
    """A data set on its way; ``bytes_total`` is ``None`` when the server does not say."""

    name: str
    bytes_done: int
    bytes_total: int | None = None


class RunStage(StrEnum):
    """What a person may do about the run follows from this."""

    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    SUSPENDING = "suspending"
    ENDED = "ended"


class BestEpoch(Value):
    """The epoch that validated best, by the metric that the profile chose.

    Attributes:
        epoch: Counted from 1.
        val_loss: Of that epoch.
    """

    epoch: int
    val_loss: float


class RunStatus(Value):
    """The sum of the events so far; :meth:`after` adds one.

    Attributes:
        started_s: When it was last started or resumed, seconds since the epoch (UTC).
        ended_s: When it ended, likewise; ``None`` while it goes on.
        lasted_before_s: How long it had run before that.
        skipped: What the machine slept meanwhile, or its clock was set forward by.
        ended_before_s: When it ended the time before, as far as its events say.
        step: Optimizer updates done; ``step_total`` is known once the data is.
        epoch: The epoch being trained, counted from 1; 0 before the first.
        examples_per_second: Of training, over the last reported steps; over the whole training
            once it ended.
        waiting_for_data: The share of that time, 0 to 1, in which steps waited for examples.
        time_spent: Where the time of all segments went; ``None``: nothing was reported.
        time_lately: Where that of about the last second went.
        energy: What the run's devices took, once it ended; ``None``: none of them says it.
        learning_rate: Of the last reported step.
        metrics: Of the last epoch done, those of the validation of the last one that was validated;
            of the whole run once it ended.
        kept_epoch: The epoch of which the metrics are once the run ended and its model was saved.
        best: The epoch that validated best; ``None`` without validation.
        problems: Reported by the run so far; the one that ended it is the last.
        program: The name of the program of the person's own that runs; empty: none does.
        figures: The last value of each figure that it reported beside loss and metrics.
        pids: The processes of the run, by their place in the gang; the first one trains alone or
            leads.
        process_names: Their names for people ("worker 1").
        data_progress: How far the data is, while it is made ready.
        shares: As they were last chosen by measuring; empty where they are not measured.
        speeds: What was measured for them.
        shares_chosen: The last word about shares.
        shares_before: Those that it replaced; empty for the first ones.
        answers: What TensorFlow answered to the device configuration, process by process.
        layers: Where each one was placed, where layers are placed on devices.
        fine_tuning: That more layers learn than at first, once they do.
        evaluation: What the task ``evaluate`` found.
        examples: Evaluated or predicted so far, of ``examples_total``.
        predictions: Where they stand, relative to the run's directory.
        restarts: How often the run was started again.
        restarted: The last time that it was.
        findings: What was found about the training, the last of each code and device.
        hours_ended: Its hours have ended, and it was not started again since.
        problems_before: How many of the problems were reported before that.
        resumed: The checkpoint that it went on from then; ``None``: none was there.
        checkpoint: The last one that was saved.
        checkpoint_step: Updates that it holds, or the one that was resumed from later.
        model: Where the trained model stands, relative to the run's directory.
        model_bytes: Size of its file, where the run reported it.
        model_saved: What was said of it.
        model_step: Updates that were done then, where it was saved since the run was last started.
        ended_at_once: A person ended the run without saving, since it was last started.
        memory_returned: What became of the GPU memory that it held.
        failures: Processes other than the first that reported why they failed, by their place.
        first_step_time_s: When the first step was reported, seconds since the epoch (UTC); by the
            clock as it is now, where that was set back since.
        seconds_left: An estimate from the time of the steps so far.
        unread_lines: Events that this version cannot read: of a newer one, or damaged.
        stuck: What keeps it from going on now, seen from outside: no event has it.
    """

    started_s: float | None = None
    ended_s: float | None = None
    lasted_before_s: float = 0.0
    skipped: SkippedTime = SkippedTime()
    ended_before_s: float | None = None
    stage: RunStage = RunStage.STARTING
    phase: Phase = Phase.STARTING
    program: str = ""
    figures: dict[str, float] = Field(default_factory=dict)
    pids: tuple[int, ...] = ()
    process_names: tuple[str, ...] = ()
    download: Download | None = None
    data_progress: events.DataProgressed | None = None
    epoch: int = 0
    epoch_total: int = 0
    step: int = 0
    step_total: int | None = None
    examples_per_second: float | None = None
    waiting_for_data: float | None = None
    time_spent: TimeSpent | None = None
    time_lately: TimeSpent | None = None
    energy: RunEnergy | None = None
    learning_rate: float | None = None
    loss: float | None = None
    accuracy: float | None = None
    metrics: Metrics = Metrics()
    kept_epoch: int | None = None
    best: BestEpoch | None = None
    shares: tuple[int, ...] = ()
    speeds: tuple[ReplicaSpeed, ...] = ()
    shares_chosen: events.SharesChosen | None = None
    shares_before: tuple[int, ...] = ()
    answers: tuple[events.DevicesReady, ...] = ()
    layers: tuple[PlacedLayer, ...] = ()
    fine_tuning: events.FineTuningBegan | None = None
    evaluation: events.EvaluationDone | None = None
    examples: int = 0
    examples_total: int | None = None
    predictions: str | None = None
    restarts: int = 0
    restarted: events.RunRestarted | None = None
    findings: tuple[events.FindingReported, ...] = ()
    hours_ended: events.HoursEnded | None = None
    problems_before: int = 0
    resumed: events.TrainingResumed | None = None
    checkpoint: events.CheckpointSaved | None = None
    checkpoint_step: int | None = None
    model: str | None = None
    model_bytes: int | None = None
    model_saved: events.ModelSaved | None = None
    model_step: int | None = None
    ended_at_once: bool = False
    memory_returned: events.MemoryReturned | None = None
    failures: tuple[tuple[int, Problem], ...] = ()
    outcome: Outcome | None = None
    problems: tuple[Problem, ...] = ()
    log_tail: tuple[str, ...] = ()
    first_step_time_s: float | None = None
    last_step_time_s: float | None = None
    first_step: int = 0
    unread_lines: int = 0
    stuck: Problem | None = None

    @property
    def has_ended(self) -> bool:
        """Whether the last event of the run was seen."""
        return self.stage is RunStage.ENDED

    @property
    def lasted_s(self) -> float | None:
        """How long it ran, each time from start to end; ``None`` while it does.

        What passed until it was resumed does not count, nor what the machine slept; nor is it known
        where the clock was set back meanwhile.
        """
        if self.started_s is None or self.ended_s is None or self.ended_s < self.started_s:
            return None
        return self.lasted_before_s + self._passed_s(self.started_s, self.ended_s)

    @property
    def evaluates(self) -> bool:
        """Whether a saved model is evaluated or predicts, as far as the events say by now."""
        return self.examples_total is not None or self.phase in _INFERENCE

    @property
    def trains(self) -> bool:
        """Whether gpupanel trains a model: not where a program of the person's own runs."""
        return not self.evaluates and not self.program

    @property
    def seconds_left(self) -> float | None:
        """Time until the end at the speed so far; ``None`` while it is not known."""
        if self.has_ended:
            return None
        if self.examples_total is not None and self.examples_per_second:
            return (self.examples_total - self.examples) / self.examples_per_second
        if self.first_step_time_s is None or self.last_step_time_s is None:
            return None
        done = self.step - self.first_step
        passed = self._passed_s(self.first_step_time_s, self.last_step_time_s)
        if not self.step_total or done <= 0 or passed <= 0.0:
            return None
        return max(0, self.step_total - self.step) * passed / done

    @property
    def ending_problem(self) -> Problem | None:
        """What ended the run, when it did not end well."""
        if self.outcome is None or self.outcome.was_successful or not self.problems:
            return None
        return self.problems[-1]

    @property
    def saved_work(self) -> SavedWork | None:
        """What of a training is saved by now; ``None`` where none of gpupanel's own goes on."""
        if not self.trains:
            return None
        has_model = self.model_step is not None and self.model_step == self.step
        # Until it goes on, what was done before it was last started is not lost once more.
        goes_on = self.first_step_time_s is not None
        unsaved = self.step - (self.checkpoint_step or 0) if goes_on and not has_model else 0
        return SavedWork(
            model=has_model,
            checkpoint_step=self.checkpoint_step,
            unsaved_steps=max(0, unsaved),
            ended_at_once=self.ended_at_once,
        )

    def after(self, part: Event | StepBatch | FigureBatch) -> Self:
        """The status once that event has happened, or those steps: the same as one by one."""
        return self.after_all((part,))

    def after_all(self, parts: Iterable[Event | StepBatch | FigureBatch]) -> Self:
        """The status once all of that has happened, in that order: checked once, at its end."""
        status = self
        for part in parts:
            status = BaseModel.model_copy(status, update=status._changes_by(part))
        return self.model_copy(update=status.__dict__)

    def _changes_by(self, part: Event | StepBatch | FigureBatch) -> dict[str, object]:
        if isinstance(part, FigureBatch):
            return self._figure_changes(part)
        if not isinstance(part, StepBatch):
            return self._changes(part)
        first = part.first
        last = part.last if len(part) > 1 else first
        return self._step_changes(first, last, part.time_s)

    def _changes(self, event: Event) -> dict[str, object]:
        match event:
            case events.RunStarted():
                return {"started_s": event.time_s, "lasted_before_s": self._lasted_before_s()}
            case events.TrainerStarted():
                return {
                    "pids": (*self.pids[: event.process], event.pid),
                    "process_names": (*self.process_names[: event.process], event.name),
                }
            case events.RunRestarted():
                return self._restart_changes(event)
            case events.ScriptStarted():
                return {"program": event.program}
            case events.FitBegan():
                steps = event.steps_per_epoch
                return {
                    "epoch_total": event.epochs,
                    "step_total": None if steps is None else steps * event.epochs,
                }
            case events.FiguresReported():
                return self._figure_changes(FigureBatch.of((event,)))
            case events.ClockJumped():
                return {"skipped": self.skipped.after(event)}
            case events.HoursEnded():
                return {"hours_ended": event}
            case events.TrainingResumed():
                return {
                    "best": self._best_when_resumed(event),
                    "epoch": event.epoch,
                    "step": event.step,
                    "resumed": event,
                    "checkpoint_step": event.step,
                }
            case events.PhaseChanged():
                return self._phase_changes(event)
            case events.DownloadProgressed():
                download = Download(
                    name=event.name, bytes_done=event.bytes_done, bytes_total=event.bytes_total
                )
                return {"download": download}
            case events.DataProgressed():
                return {"data_progress": event}
            case events.DataReady():
                return {
                    "step_total": event.steps_per_epoch * self.epoch_total,
                    "download": None,
                    "data_progress": None,
                }
            case events.StepsDone():
                return self._step_changes(event, event, array("d", [event.time_s]))
            case events.TimeReported():
                before = self.time_spent
                return {
                    "time_spent": event.spent if before is None else before.plus(event.spent),
                    "time_lately": event.spent,
                }
            case events.EpochDone():
                return {
                    "metrics": event.metrics.with_validation_of(self.metrics),
                    "epoch": event.epoch,
                    "best": self._best_after(event),
                }
            case events.RequestAnswered():
                return self._request_changes(event.request)
            case events.ProblemReported():
                return self._with_problem(event.problem)
            case events.FindingReported():
                found = (each for each in self.findings if each.identity != event.identity)
                return {"findings": (*found, event)[-_MOST_FINDINGS:]}
            case events.FineTuningBegan():
                return {"fine_tuning": event}
            case events.EpochsFitted():
                return self._fitted_changes(event.epochs)
            case events.LayersPlaced():
                return {"layers": event.layers}
            case events.SharesChosen():
                return self._share_changes(event)
            case events.ExamplesDone():
                return self._example_changes(event)
            case events.EvaluationDone():
                return {"evaluation": event, "metrics": event.metrics}
            case events.PredictionsSaved():
                return {"predictions": event.path}
            case events.TrainingEnded() if event.process != 0:
                # The supervisor reports what it means for the run.
                return self._with_failure(event.process, event.problem)
            case events.CheckpointSaved():
                return {"checkpoint": event, "checkpoint_step": event.step}
            case events.ModelSaved():
                return {
                    "model": event.path,
                    "model_bytes": event.size_bytes,
                    "model_step": self.step,
                    "model_saved": event,
                }
            case events.DevicesReady():
                others = (each for each in self.answers if each.process != event.process)
                answers = sorted((*others, event), key=lambda answer: answer.process)
                return {"answers": tuple(answers)}
            case events.MemoryReturned():
                return {"memory_returned": event}
            case events.TrainingEnded() | events.RunEnded():
                return self._end_changes(event)
            case events.UnknownEvent():
                return {"unread_lines": self.unread_lines + 1}
            case events.ModelReady() | events.MemoryExhausted() | events.MemoryReported():
                return {}
        assert_never(event)

    def _figure_changes(self, reported: FigureBatch) -> dict[str, object]:
        known = {**self.figures, **reported.last_figures}
        step, epoch = reported.last_step, reported.last_epoch
        return {
            # A program that gives its figures ever new names is followed all the same.
            "figures": dict(islice(known.items(), events.MOST_FIGURES)),
            "step": self.step if step is None else max(self.step, step),
            "epoch": self.epoch if epoch is None else epoch,
        }

    def _fitted_changes(self, epochs: int) -> dict[str, object]:
        total = self.step_total
        steps = total * epochs // self.epoch_total if total and self.epoch_total else total
        return {"epoch_total": epochs, "step_total": steps}

    def _lasted_before_s(self) -> float:
        """How long the run lasted until now, where it is resumed now."""
        if self.started_s is None or self.ended_before_s is None:
            return self.lasted_before_s
        segment_s = self._passed_s(self.started_s, self.ended_before_s)
        return self.lasted_before_s + max(0.0, segment_s)

    def _passed_s(self, start_s: float, end_s: float) -> float:
        """Between two moments, without what the machine slept."""
        return end_s - start_s - self.skipped.between(start_s, end_s)

    def _request_changes(self, request: Request) -> dict[str, object]:
        if request in (Request.CHECKPOINT, Request.TRACE) or self.has_ended:
            return {}
        # A stop that was asked for after a suspend wins, and is not taken back by one.
        suspends = request is Request.SUSPEND and self.stage is not RunStage.STOPPING
        return {
            "stage": RunStage.SUSPENDING if suspends else RunStage.STOPPING,
            "ended_at_once": self.ended_at_once or request is Request.END,
        }

    def _with_problem(self, problem: Problem) -> dict[str, Any]:
        """Another problem; of very many, as a damaged file has them, the last are kept."""
        problems = (*self.problems, problem)[-_MOST_PROBLEMS:]
        left_out = len(self.problems) + 1 - len(problems)
        return {"problems": problems, "problems_before": max(0, self.problems_before - left_out)}

    def _with_news(self, problem: Problem | None) -> dict[str, Any]:
        """The same, unless this attempt reported it before."""
        is_known = problem is None or problem in self.problems[self.problems_before :]
        return {} if problem is None or is_known else self._with_problem(problem)

    def _with_failure(self, process: int, problem: Problem | None) -> dict[str, object]:
        """Why a process failed, which is the last that it said."""
        if problem is None:
            return {}
        others = (each for each in self.failures if each[0] != process)
        return {"failures": (*others, (process, problem))[-_MOST_PROBLEMS:]}

    def _phase_changes(self, event: events.PhaseChanged) -> dict[str, object]:
        running = event.phase in _RUNNING and self.stage is RunStage.STARTING
        return {"phase": event.phase, **({"stage": RunStage.RUNNING} if running else {})}

    def _restart_changes(self, event: events.RunRestarted) -> dict[str, object]:
        problems = self._with_news(event.problem).get("problems", self.problems)
        epochs = [change.value for change in event.changes if change.path == _EPOCHS]
        return {
            "epoch_total": epochs[-1] if epochs else self.epoch_total,
            "stage": RunStage.STARTING,
            "phase": Phase.STARTING,
            "restarts": self.restarts + 1,
            "restarted": event,
            "resumed": None,
            "fine_tuning": None,
            "model_step": None,
            "ended_at_once": False,
            "hours_ended": None,
            "failures": (),
            "pids": (),
            "process_names": (),
            "download": None,
            "data_progress": None,
            "answers": (),
            "memory_returned": None,
            "outcome": None,
            "ended_before_s": self.ended_s or self.last_step_time_s,
            "ended_s": None,
            "log_tail": (),
            "problems": problems,
            "problems_before": len(problems),
            "first_step_time_s": None,
            "last_step_time_s": None,
        }

    def _share_changes(self, event: events.SharesChosen) -> dict[str, object]:
        return {
            "shares": event.shares,
            "speeds": event.speeds,
            "shares_chosen": event,
            "shares_before": self.shares,
        }

    def _example_changes(self, event: events.ExamplesDone) -> dict[str, object]:
        return {
            "examples": event.examples,
            "examples_total": event.examples_total,
            "examples_per_second": event.examples_per_second,
        }

    def _best_when_resumed(self, event: events.TrainingResumed) -> BestEpoch | None:
        if event.best is not None and event.best.metrics.val_loss is not None:
            return BestEpoch(epoch=event.best.epoch, val_loss=event.best.metrics.val_loss)
        # Epochs from that one on are trained anew.
        stays = self.best is not None and self.best.epoch < event.epoch
        return self.best if stays else None

    def _best_after(self, event: events.EpochDone) -> BestEpoch | None:
        loss = event.metrics.val_loss
        if event.is_best is not None:
            is_best = event.is_best and loss is not None
            return BestEpoch(epoch=event.epoch, val_loss=loss) if is_best else self.best
        if loss is None or (self.best is not None and self.best.val_loss <= loss):
            return self.best
        return BestEpoch(epoch=event.epoch, val_loss=loss)

    def _step_changes(
        self, first: events.StepsDone, last: events.StepsDone, times_s: Floats
    ) -> dict[str, object]:
        first_time_s = self.first_step_time_s
        if first_time_s is None or self.last_step_time_s is None:
            begin = {"first_step": first.step}
            first_time_s = first.time_s
        else:
            begin = {}
            times_s = array("d", [self.last_step_time_s]) + times_s
        for back_s in set_back_s(times_s):
            # Forged times may differ by more than a float can hold.
            first_time_s = max(-sys.float_info.max, first_time_s - back_s)
        return {
            "step": last.step,
            "epoch": last.epoch,
            "loss": last.loss,
            "accuracy": last.accuracy,
            "examples_per_second": last.examples_per_second,
            "waiting_for_data": last.waiting_for_data,
            "learning_rate": last.learning_rate,
            "first_step_time_s": first_time_s,
            "last_step_time_s": last.time_s,
            **begin,
        }

    def _end_changes(self, event: events.TrainingEnded | events.RunEnded) -> dict[str, object]:
        # The trainer's own word comes first and carries the metrics; the supervisor's comes last
        # and carries what became of the process.
        changes: dict[str, object] = {
            "outcome": event.outcome,
            **self._with_news(event.problem),
        }
        if event.metrics != Metrics():
            changes |= {"metrics": event.metrics, "kept_epoch": event.kept_epoch}
        if event.examples_per_second is not None:
            changes["examples_per_second"] = event.examples_per_second
            changes["waiting_for_data"] = event.waiting_for_data
        if isinstance(event, events.RunEnded):
            changes |= {
                "stage": RunStage.ENDED,
                "ended_s": event.time_s,
                "log_tail": event.log_tail,
                "energy": event.energy,
                "stuck": None,
            }
        return changes
