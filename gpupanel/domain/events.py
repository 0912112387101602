"""Every event of a run, and its way to a line of ``events.jsonl`` and back.

Trainer and supervisor append, everybody else reads; both sides import this one file. A line that
this version does not know becomes an :class:`UnknownEvent`, so that newer runs can be read.
"""

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, TypeAdapter

from gpupanel.domain.document_bounds import OF_A_RECORD, check_json
from gpupanel.domain.energy import RunEnergy
from gpupanel.domain.event_details import (
    AllocatedMemory,
    LogicalDeviceAnswer,
    PlacedLayer,
    ReplicaSpeed,
    ReturnedMemory,
    ShortageCause,
)
from gpupanel.domain.finding import Finding
from gpupanel.domain.fine_tuning import begun_text
from gpupanel.domain.inference import ExamplesChosen
from gpupanel.domain.outcome import Metrics, Outcome, SavedWork, ValidatedEpoch
from gpupanel.domain.problem import Change, Problem
from gpupanel.domain.request import Request
from gpupanel.domain.steps_line import StepsLine
from gpupanel.domain.time_spent import TimeSpent
from gpupanel.domain.value import MOST_AXES, PerPlace, Value

Shape = Annotated[tuple[int, ...], Field(max_length=MOST_AXES)]
"""The shape of a tensor."""


MOST_FIGURES = 200
"""The most figures of a program of the person's own that are drawn."""


_LAST_S: Final = 2.0**37
"""Seconds since the epoch that calendars know; a stranger's file may say more."""


class Phase(StrEnum):
    """What the trainer is doing, in the order in which it happens."""

    STARTING = "starting"
    IMPORTING_TENSORFLOW = "importing_tensorflow"
    CONFIGURING_DEVICES = "configuring_devices"
    LOADING_DATA = "loading_data"
    BUILDING_MODEL = "building_model"
    TRACING = "tracing"
    MEASURING = "measuring"
    TRAINING = "training"
    VALIDATING = "validating"
    TESTING = "testing"
    EVALUATING = "evaluating"
    PREDICTING = "predicting"
    SAVING = "saving"
    RUNNING = "running"
    """A program of the person's own: what it does at the moment nobody knows."""


class _Event(Value):
    """What every event has.

    Attributes:
        time_s: When it happened, in seconds since the epoch (UTC).
    """

    time_s: float


class RunStarted(_Event):
    """The supervisor began; the first event of every run."""

    kind: Literal["run_started"] = "run_started"
    supervisor_pid: int


class TrainerStarted(_Event):
    """The supervisor started a process of the run.

    Attributes:
        process: Its place in the plan's gang.
        name: What people read: "worker 1".
    """

    kind: Literal["trainer_started"] = "trainer_started"
    pid: int
    process: int = 0
    name: str = "the trainer"


class RunRestarted(_Event):
    """The supervisor ended what was left of the gang and starts all of it again.

    Attributes:
        attempt: Counted from 1; 0 when a person asked.
        problem: Why.
        changes: What its profile says otherwise than before, key by key; empty: nothing.
        accepts_changed_data: A person lets it go on though its data may be other than before.
    """

    kind: Literal["run_restarted"] = "run_restarted"
    attempt: int
    problem: Problem | None = None
    changes: Annotated[tuple[Change, ...], PerPlace] = ()
    accepts_changed_data: bool = False


class ScriptStarted(_Event):
    """The program of the person's own was started; said again by each start of the run.

    Attributes:
        pid: Of its process.
        program: The name of its file.
    """

    kind: Literal["script_started"] = "script_started"
    pid: int
    program: str


class FitBegan(_Event):
    """A program of the person's own called Keras's ``fit``.

    Attributes:
        epochs: After which it ends, counted from the first epoch of the run; those of earlier calls
            of ``fit`` are among them.
        steps_per_epoch: ``None``: Keras does not know it before an epoch has ended.
    """

    kind: Literal["fit_began"] = "fit_began"
    epochs: int
    steps_per_epoch: int | None = None


class FiguresReported(_Event):
    """Figures that a program of the person's own reports; of each name at most 20 a second.

    Attributes:
        step: Of the program, as it counts them; ``None``: it did not say.
        epoch: Likewise.
        figures: By the names that the program gives them.
    """

    kind: Literal["figures_reported"] = "figures_reported"
    step: int | None = None
    epoch: int | None = None
    figures: Annotated[dict[str, float], Field(max_length=MOST_FIGURES)]


class ClockJumped(_Event):
    """The machine slept, or its clock was set forward; reported by each process that notices.

    Attributes:
        gap_s: By how much: what lies so long before ``time_s`` was no time of the run.
    """

    kind: Literal["clock_jumped"] = "clock_jumped"
    gap_s: Annotated[float, Field(gt=0.0)]


class HoursEnded(_Event):
    """The hours in which the run may work have ended: it is asked to suspend.

    Attributes:
        hours: As they were written.
        begin_s: When they begin again, seconds since the epoch (UTC); ``None``: never.
    """

    kind: Literal["hours_ended"] = "hours_ended"
    hours: str
    begin_s: Annotated[float, Field(ge=0.0, le=_LAST_S)] | None


class TrainingResumed(_Event):
    """The trainer goes on from a checkpoint.

    Attributes:
        epoch: The epoch that is trained next or was begun, counted from 1.
        step: Updates that the checkpoint holds: what was done after it is done again.
        best: The best epoch until there, whose weights may still become the model's.
    """

    kind: Literal["training_resumed"] = "training_resumed"
    path: str
    epoch: int
    step: int
    best: ValidatedEpoch | None = None


class PhaseChanged(_Event):
    """The trainer turned to something else."""

    kind: Literal["phase_changed"] = "phase_changed"
    phase: Phase


class DevicesReady(_Event):
    """What TensorFlow answered to the device configuration; each process of a gang says it.

    Attributes:
        process: Its place in the plan's gang.
        python_version: Empty: an earlier version wrote this.
        gpupanel_version: Of the trainer; empty: an earlier version wrote this.
    """

    kind: Literal["devices_ready"] = "devices_ready"
    process: int = 0
    tensorflow_version: str
    python_version: str = ""
    gpupanel_version: str = ""
    logical_devices: Annotated[tuple[LogicalDeviceAnswer, ...], PerPlace]


class DownloadProgressed(_Event):
    """A data set is being downloaded; ``bytes_total`` is ``None`` when the server does not say."""

    kind: Literal["download_progressed"] = "download_progressed"
    name: str
    bytes_done: int
    bytes_total: int | None = None


class DataProgressed(_Event):
    """Data is being made ready, which takes long: decoded or imported; about five a second.

    Attributes:
        doing: What, in words: "decoding images".
        done: Examples or bytes.
        total: Of them.
    """

    kind: Literal["data_progressed"] = "data_progressed"
    doing: str
    done: int
    total: int


class DataReady(_Event):
    """The data was read and checked.

    Attributes:
        feature_shape: Shape of one example, without the batch axis.
        test_examples: Of a test set that does not validate.
        class_count: 0 where values are predicted.
        class_names: Empty where values are predicted, and where they are too many for an event.
        steps_per_epoch: Optimizer updates of one epoch, the last smaller batch counted.
    """

    kind: Literal["data_ready"] = "data_ready"
    training_examples: int
    validation_examples: int
    test_examples: int = 0
    feature_shape: Shape
    class_count: int = 0
    class_names: tuple[str, ...] = ()
    steps_per_epoch: int


class EpochsFitted(_Event):
    """So many epochs fit into the training's time limit; said again by whoever goes on after that.

    Attributes:
        epochs: After which the training ends, counted from its beginning.
    """

    kind: Literal["epochs_fitted"] = "epochs_fitted"
    epochs: int


class ModelReady(_Event):
    """The model was built."""

    kind: Literal["model_ready"] = "model_ready"
    parameters: int
    trainable_parameters: int


class FineTuningBegan(_Event):
    """Layers learn from now on that did not before; said again by whoever goes on after that.

    Attributes:
        epoch: The first in which they learn, counted from 1.
        layers: How many layers of the base learn.
        trainable_parameters: How many numbers learn, with those of the head.
        learning_rate: Of the next update.
    """

    kind: Literal["fine_tuning_began"] = "fine_tuning_began"
    epoch: int
    layers: int
    trainable_parameters: int
    learning_rate: float

    @property
    def words(self) -> str:
        """What learns, for people."""
        return begun_text(self.layers, self.trainable_parameters, self.learning_rate)


class LayersPlaced(_Event):
    """Where each layer went; ``model_parallel`` only."""

    kind: Literal["layers_placed"] = "layers_placed"
    layers: tuple[PlacedLayer, ...]


class SharesChosen(_Event):
    """The global batch is divided so from the next step on; the mathematics stays the same.

    Attributes:
        step: Updates done before.
        shares: Examples of each full global batch, per replica.
        speeds: What was measured, per replica.
        reason: ``measured`` before the first step, ``adjusted`` when a speed has changed.
    """

    kind: Literal["shares_chosen"] = "shares_chosen"
    step: int
    shares: tuple[int, ...]
    speeds: Annotated[tuple[ReplicaSpeed, ...], PerPlace]
    reason: Literal["measured", "adjusted"]


class ExamplesDone(_Event):
    """Progress of the tasks ``evaluate`` and ``predict``; at most 20 of these a second."""

    kind: Literal["examples_done"] = "examples_done"
    examples: int
    examples_total: int
    examples_per_second: float


class EvaluationDone(_Event):
    """What a saved model reaches on data.

    Attributes:
        which: Of its examples were evaluated; ``None``: an earlier version did not say it.
        learned: How many of these the model learned from; ``None``: not known.
        learned_is_estimate: That is so by a sample of what it learned from.
        class_count: 0 where values are predicted.
        of_arrays: The model gives arrays, or several outputs, of which more is not kept.
        confusion_file: Where the confusion matrix stands, relative to the run's directory, with
            the names of the classes; empty where values are predicted, and where it could not be
            written.
        labels_file: Where the figures of several labels at once stand, likewise.
        values_file: Where true and predicted values stand, likewise.
        confusion: The matrix itself, as earlier versions wrote it here: how many examples of each
            class (row) were taken for each class (column).
        class_names: Of its rows and columns.
    """

    kind: Literal["evaluation_done"] = "evaluation_done"
    examples: int
    which: ExamplesChosen | None = None
    learned: int | None = None
    learned_is_estimate: bool = False
    metrics: Metrics
    class_count: int = 0
    of_arrays: bool = False
    confusion_file: str = ""
    labels_file: str = ""
    values_file: str = ""
    confusion: tuple[tuple[int, ...], ...] = ()
    class_names: tuple[str, ...] = ()


class PredictionsSaved(_Event):
    """The predictions stand at ``path``, relative to the run's directory, in input order."""

    kind: Literal["predictions_saved"] = "predictions_saved"
    path: str
    examples: int


class StepsDone(_Event, StepsLine):
    """Steps done since the last such event; at most 20 of these a second."""

    @classmethod
    def of(cls, line: StepsLine, of_updates: Mapping[str, float]) -> Self:
        """The same as an event.

        Args:
            line: What was found outside of the updates.
            of_updates: What these gave, by the keys of the line.

        Raises:
            ValidationError: A number is not finite.
        """
        return cls(**{**vars(line), **of_updates})


class TimeReported(_Event):
    """Where the time went since the last such event, or since training began; about one a second.

    Attributes:
        step: Optimizer updates since the start of the run, those of that time included.
    """

    kind: Literal["time_reported"] = "time_reported"
    step: int
    spent: TimeSpent


class MemoryReported(_Event):
    """What a process holds of its GPUs, as TensorFlow's allocator counts it.

    Every ten seconds, and when a training's last step is done.

    Attributes:
        process: Its place in the plan's gang.
    """

    kind: Literal["memory_reported"] = "memory_reported"
    process: int = 0
    devices: Annotated[tuple[AllocatedMemory, ...], PerPlace]


class EpochDone(_Event):
    """An epoch and its validation are done; the metrics are of the whole sets.

    Attributes:
        is_best: It validated better than all before; ``None``: an earlier version wrote this.
    """

    kind: Literal["epoch_done"] = "epoch_done"
    epoch: int
    step: int
    metrics: Metrics
    seconds: float
    is_best: bool | None = None


class CheckpointSaved(_Event):
    """A complete checkpoint stands at ``path``, relative to the run's directory.

    Attributes:
        seconds: From the copy of the weights to the last byte on the disk.
        stalled_s: How long the training stood still for it; the rest was written beside it.
        reason: Why it was saved.
        is_best: It is of the epoch with the least loss so far, and is kept for that.
    """

    kind: Literal["checkpoint_saved"] = "checkpoint_saved"
    path: str
    epoch: int
    step: int
    seconds: float
    stalled_s: float = 0.0
    reason: Literal["epoch", "minutes", "request", "end"] = "epoch"
    is_best: bool = False


class RequestAnswered(_Event):
    """The trainer saw a request and does it."""

    kind: Literal["request_answered"] = "request_answered"
    request: Request


class ModelSaved(_Event):
    """The trained model stands at ``path``, relative to the run's directory.

    Attributes:
        size_bytes: Of its file; ``None`` in runs of earlier versions.
        epoch: The whole epochs in its weights; ``None``: earlier versions, which save the last.
        is_best: Whether it has the weights of the best epoch.
        is_last: Whether it has those of the last step.
        other_path: Of a second model beside it, with the weights that are not kept: the last ones,
            or those of the best epoch; empty: there is none.
        other_epoch: The whole epochs in its weights.
    """

    kind: Literal["model_saved"] = "model_saved"
    path: str
    size_bytes: Annotated[int, Field(ge=0)] | None = None
    epoch: Annotated[int, Field(ge=0)] | None = None
    is_best: bool = False
    is_last: bool = True
    other_path: str = ""
    other_epoch: Annotated[int, Field(ge=0)] | None = None


class ProblemReported(_Event):
    """A problem of a person's interest while the run goes on, or before it fails."""

    kind: Literal["problem_reported"] = "problem_reported"
    problem: Problem


class FindingReported(_Event, Finding):
    """The supervisor found why the training is slow, or learns badly.

    Once for each code and device, and again when it comes back after a minute without it.
    """

    kind: Literal["finding_reported"] = "finding_reported"


class MemoryExhausted(_Event):
    """A process wanted more memory than there was: it fails because of that, or was killed.

    The trainer reports what it was refused, the supervisor that the system killed it. What nobody
    said is ``None``.

    Attributes:
        process: Its place in the plan's gang.
        device_key: The physical device whose memory it was; ``cpu``: the host's.
        logical_device: TensorFlow's name of it within the process (``/device:GPU:0``).
        asked_bytes: What could not be had at once.
        tensor_shape: Of the tensor that it was for.
        tensor_type: Of that tensor, as TensorFlow names it ("float").
        limit_bytes: The most that the process could take: TensorFlow's own limit on the device,
            or that of the process's control group.
        held_bytes: What the process held of it by then.
    """

    kind: Literal["memory_exhausted"] = "memory_exhausted"
    process: int = 0
    cause: ShortageCause = ShortageCause.REFUSED
    device_key: str | None = None
    logical_device: str | None = None
    asked_bytes: int | None = None
    tensor_shape: Shape | None = None
    tensor_type: str | None = None
    limit_bytes: int | None = None
    held_bytes: int | None = None


class TrainingEnded(_Event):
    """The trainer came to its end by itself: the last event that it writes.

    Attributes:
        metrics: Of the epoch whose weights the saved model has, and with them of the test set where
            the training came to its end; of the last epoch where no model was saved.
        kept_epoch: That epoch; ``None``: no model was saved, or of no whole epoch.
        examples_per_second: Training only: start-up and validation are not counted.
        waiting_for_data: The share of the same time, 0 to 1, in which steps waited for their
            examples.
        epochs: Whole epochs that were trained in this start of the run.
        examples: Trained on in this start of the run, counted as often as they were.
        time_spent: Where all the time of the training went, from its first step in this start of
            the run on; ``None``: nothing was trained, or an earlier version wrote this.
        process: Who says so: its place in the plan's gang. Others than the first say so only
            when they fail.
    """

    kind: Literal["training_ended"] = "training_ended"
    process: int = 0
    outcome: Outcome
    metrics: Metrics = Metrics()
    kept_epoch: Annotated[int, Field(ge=1)] | None = None
    examples_per_second: float | None = None
    waiting_for_data: float | None = None
    epochs: int = 0
    examples: int = 0
    time_spent: TimeSpent | None = None
    problem: Problem | None = None


class MemoryReturned(_Event):
    """The supervisor watched the GPUs until the ended run's memory was back, or gave up.

    Attributes:
        seconds: From the end of the last process to the last GPU's memory, or until it gave up.
        devices: Those of which the run held memory.
    """

    kind: Literal["memory_returned"] = "memory_returned"
    seconds: float
    devices: Annotated[tuple[ReturnedMemory, ...], PerPlace]


class RunEnded(_Event):
    """The supervisor saw the trainer's process end; the last event of every run.

    Attributes:
        kept_epoch: As the trainer said at its end, with the metrics.
        exit_code: Of the trainer; negative: the signal that killed it; ``None``: never started.
        log_tail: Last lines of ``trainer.log`` when the run did not end well.
        saved: What of a training is saved; ``None``: it trained nothing, or an older version
            wrote this.
        restarts: How often its processes were started again, automatically and by a person;
            ``None``: an older version wrote this.
        lasted_s: How long all segments of the run lasted, without the time between them; ``None``
            likewise.
        time_spent: As the trainer said at its end; ``None``: it could not.
        energy: What the run's devices took in all segments; ``None``: none of them says it.
        findings: What held this segment of the run up, the last of each code and device.
    """

    kind: Literal["run_ended"] = "run_ended"
    outcome: Outcome
    metrics: Metrics = Metrics()
    kept_epoch: Annotated[int, Field(ge=1)] | None = None
    examples_per_second: float | None = None
    waiting_for_data: float | None = None
    problem: Problem | None = None
    exit_code: int | None = None
    log_tail: Annotated[tuple[str, ...], PerPlace] = ()
    saved: SavedWork | None = None
    restarts: Annotated[int, Field(ge=0)] | None = None
    lasted_s: Annotated[float, Field(ge=0.0)] | None = None
    time_spent: TimeSpent | None = None
    energy: RunEnergy | None = None
    findings: Annotated[tuple[Finding, ...], PerPlace] = ()


class UnknownEvent(_Event):
    """A line that this version cannot read: from a newer one, or damaged."""

    kind: Literal["unknown"] = "unknown"
    line: str


KnownEvent = (
    RunStarted
    | TrainerStarted
    | RunRestarted
    | ScriptStarted
    | FitBegan
    | FiguresReported
    | ClockJumped
    | HoursEnded
    | TrainingResumed
    | PhaseChanged
    | DevicesReady
    | DownloadProgressed
    | DataProgressed
    | DataReady
    | ModelReady
    | FineTuningBegan
    | EpochsFitted
    | LayersPlaced
    | SharesChosen
    | ExamplesDone
    | EvaluationDone
    | PredictionsSaved
    | StepsDone
    | TimeReported
    | MemoryReported
    | EpochDone
    | CheckpointSaved
    | RequestAnswered
    | ModelSaved
    | ProblemReported
    | FindingReported
    | MemoryExhausted
    | TrainingEnded
    | MemoryReturned
    | RunEnded
)
Event = KnownEvent | UnknownEvent

_DECODER: TypeAdapter[Any] = TypeAdapter(Annotated[KnownEvent, Field(discriminator="kind")])


LONGEST_EVENT = 32 * 1024
"""Characters of a line, where a text in it makes it longer: whoever searches for the last event of
a run reads the end of the file only, and little space is kept for it on a full disk."""
_LONGEST_TEXT = 8 * 1024


def encode_event(event: Event) -> str:
    """The event as one line of JSON, without the line's end.

    Of a text that would make it longer than :data:`LONGEST_EVENT`, such as a message of the
    person's own code, the middle is left out.
    """
    line = event.model_dump_json()
    if len(line) <= LONGEST_EVENT:
        return line
    document = _shortened(event.model_dump(mode="json"))
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def _shortened(node: Any) -> Any:  # noqa: ANN401 - a document as JSON holds it
    match node:
        case dict():
            return {key: _shortened(value) for key, value in node.items()}
        case list():
            return [_shortened(value) for value in node]
        case str() if len(node) > _LONGEST_TEXT:
            half = _LONGEST_TEXT // 2
            left_out = len(node) - 2 * half
            return f"{node[:half]}\n[{left_out:,} characters left out]\n{node[-half:]}"
    return node


def decode_event(line: str | bytes) -> Event:
    """The event of one whole line; an :class:`UnknownEvent` when it cannot be read."""
    content = line.encode(errors="replace") if isinstance(line, str) else line
    try:
        check_json(content, OF_A_RECORD)
        event: Event = _DECODER.validate_json(content)
    except ValueError:
        return UnknownEvent(time_s=0.0, line=content.decode(errors="replace"))
    return event
