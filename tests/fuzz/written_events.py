"""One event of each kind, as a run with everything would have told them."""

from gpupanel.domain import events
from gpupanel.domain.event_details import (
    LogicalDeviceAnswer,
    PlacedLayer,
    ReplicaSpeed,
    ReturnedMemory,
)
from gpupanel.domain.events import Event, Phase
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.problem import Change, Fix, Problem
from gpupanel.domain.request import Request

_PROBLEM = Problem(
    code="trainer_killed",
    field="training.learning_rate",
    message="Worker 1 was killed by SIGKILL (signal 9).",
    hint="Resume the run.",
    detail="a line\nanother line",
    fix=Fix(label="Use 0.001", changes=(Change(path=("training", "learning_rate"), value=0.001),)),
)
_METRICS = Metrics(loss=0.5, accuracy=0.9, val_loss=0.6, val_accuracy=0.88)


def _steps(number: int) -> events.StepsDone:
    return events.StepsDone(
        time_s=1_790_000_010.0 + number,
        step=7 * number,
        steps=7,
        epoch=1,
        step_in_epoch=7 * number,
        examples=448,
        loss=1.0 / number,
        accuracy=0.9,
        learning_rate=0.01,
        gradient_norm=1.5 / number,
        examples_per_second=1234.5,
    )


RUN: tuple[Event, ...] = (
    events.RunStarted(time_s=1_790_000_000.0, supervisor_pid=4),
    events.TrainerStarted(time_s=1_790_000_000.1, pid=5),
    events.TrainerStarted(time_s=1_790_000_000.1, pid=6, process=1, name="worker 1"),
    *(events.PhaseChanged(time_s=1_790_000_001.0, phase=phase) for phase in Phase),
    events.DevicesReady(
        time_s=1_790_000_002.0,
        tensorflow_version="2.21.0",
        logical_devices=(LogicalDeviceAnswer(device_key="cpu", name="/device:CPU:0"),),
    ),
    events.DataProgressed(time_s=1.7, doing="decoding images", done=3, total=10),
    events.DownloadProgressed(time_s=1_790_000_003.0, name="mnist", bytes_done=7, bytes_total=9),
    events.DataReady(
        time_s=1_790_000_004.0,
        training_examples=1438,
        validation_examples=359,
        feature_shape=(8, 8, 1),
        class_names=("0", "1"),
        steps_per_epoch=23,
    ),
    events.ModelReady(time_s=1_790_000_005.0, parameters=99, trainable_parameters=98),
    events.FineTuningBegan(
        time_s=1_790_000_005.5,
        epoch=2,
        layers=3,
        trainable_parameters=99,
        learning_rate=1e-5,
    ),
    events.LayersPlaced(
        time_s=1_790_000_006.0,
        layers=(
            PlacedLayer(
                name="dense",
                place=0,
                device_key="cpu",
                logical_device="/device:CPU:0",
                parameters=9,
            ),
        ),
    ),
    events.SharesChosen(
        time_s=1_790_000_007.0,
        step=0,
        shares=(48, 16),
        speeds=(ReplicaSpeed(replica=0, examples_per_second=10.0),),
        reason="measured",
    ),
    *(_steps(number) for number in range(1, 10)),
    events.EpochDone(time_s=1_790_000_020.0, epoch=1, step=63, metrics=_METRICS, seconds=9.5),
    events.CheckpointSaved(
        time_s=1_790_000_021.0, path="checkpoints/step-000000063", epoch=1, step=63, seconds=0.1
    ),
    events.RequestAnswered(time_s=1_790_000_022.0, request=Request.CHECKPOINT),
    events.ProblemReported(time_s=1_790_000_023.0, problem=_PROBLEM),
    events.RunRestarted(time_s=1_790_000_024.0, attempt=1, problem=_PROBLEM),
    events.TrainingResumed(
        time_s=1_790_000_025.0, path="checkpoints/step-000000063", epoch=2, step=63
    ),
    *(_steps(number) for number in range(10, 15)),
    events.ExamplesDone(
        time_s=1_790_000_040.0, examples=5, examples_total=10, examples_per_second=3.0
    ),
    events.EvaluationDone(
        time_s=1_790_000_041.0,
        examples=10,
        metrics=_METRICS,
        confusion=((3, 2), (1, 4)),
        class_names=("0", "1"),
    ),
    events.PredictionsSaved(time_s=1_790_000_042.0, path="predictions.npz", examples=10),
    events.ModelSaved(time_s=1_790_000_043.0, path="model.keras"),
    events.TrainingEnded(time_s=1_790_000_044.0, outcome=Outcome.COMPLETED, metrics=_METRICS),
    events.MemoryExhausted(
        time_s=1_790_000_044.5,
        device_key="GPU-4090",
        logical_device="/device:GPU:0",
        asked_bytes=1_342_177_280,
        tensor_shape=(128, 10_240, 256),
        tensor_type="float",
        limit_bytes=8_589_934_592,
        held_bytes=8_000_000_000,
    ),
    events.MemoryReturned(
        time_s=1_790_000_045.0,
        seconds=1.2,
        devices=(ReturnedMemory(device_key="GPU-4090", freed_mib=21_000),),
    ),
    events.RunEnded(
        time_s=1_790_000_046.0,
        outcome=Outcome.LOST,
        metrics=_METRICS,
        problem=_PROBLEM,
        exit_code=-9,
        log_tail=("a line", "another"),
    ),
)
