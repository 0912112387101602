"""Events to lines and back; outcomes, devices, layout."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from gpupanel.domain import event_details, events
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.event_details import (
    MOST_NAME_CHARACTERS,
    AllocatedMemory,
    names_for_event,
)
from gpupanel.domain.events import Event, UnknownEvent, decode_event, encode_event
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.plan import LaunchPlan, PlannedReplica
from gpupanel.domain.preview import DataPreview, ExamplePreview
from gpupanel.domain.problem import Change, Fix, Problem
from gpupanel.domain.process_environment import PROCESS_VARIABLE, SUPERVISOR_PID_VARIABLE
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategyKind
from gpupanel.domain.telemetry import DeviceReading, TelemetrySample
from gpupanel.domain.time_spent import ReplicaTime, TimeSpent
from tests.fakes.devices import CPU, RTX_4090, TWO_UNEQUAL

PROBLEM = Problem(
    code="x",
    message="It broke.",
    fix=Fix(label="Mend", changes=(Change(path=("strategy", "shares"), value=[1, 2]),)),
)
EVERY_EVENT: list[Event] = [
    events.RunStarted(time_s=1.5, supervisor_pid=1),
    events.TrainerStarted(time_s=1.5, pid=2),
    events.RunRestarted(time_s=1.5, attempt=1, problem=PROBLEM),
    events.ScriptStarted(time_s=1.5, pid=3, program="train.py"),
    events.FitBegan(time_s=1.5, epochs=3, steps_per_epoch=12),
    events.FiguresReported(time_s=1.5, step=4, epoch=1, figures={"iou": 0.5}),
    events.TrainingResumed(time_s=1.5, path="checkpoints/step-000000003", epoch=2, step=3),
    events.PhaseChanged(time_s=1.5, phase=events.Phase.TRACING),
    events.DevicesReady(
        time_s=1.5,
        tensorflow_version="2.21.0",
        logical_devices=(
            event_details.LogicalDeviceAnswer(name="/device:CPU:0", device_key="cpu"),
        ),
    ),
    events.DataProgressed(time_s=1.7, doing="decoding images", done=3, total=10),
    events.DownloadProgressed(time_s=1.5, name="mnist", bytes_done=1, bytes_total=None),
    events.DataReady(
        time_s=1.5,
        training_examples=10,
        validation_examples=2,
        feature_shape=(8, 8, 1),
        class_names=("0", "1"),
        steps_per_epoch=3,
    ),
    events.ModelReady(time_s=1.5, parameters=10, trainable_parameters=9),
    events.FineTuningBegan(
        time_s=1_790_000_005.5,
        epoch=2,
        layers=3,
        trainable_parameters=99,
        learning_rate=1e-5,
    ),
    events.EpochsFitted(time_s=1.5, epochs=57),
    events.LayersPlaced(
        time_s=1.5,
        layers=(
            event_details.PlacedLayer(
                name="dense_1",
                place=1,
                device_key="cpu",
                logical_device="/device:CPU:1",
                parameters=10,
            ),
        ),
    ),
    events.SharesChosen(
        time_s=1.5,
        step=3,
        shares=(48, 16),
        speeds=(
            event_details.ReplicaSpeed(replica=0, examples_per_second=300.0),
            event_details.ReplicaSpeed(replica=1, examples_per_second=100.0, largest_share=16),
        ),
        reason="adjusted",
    ),
    events.ExamplesDone(time_s=1.5, examples=1, examples_total=2, examples_per_second=1e3),
    events.EvaluationDone(
        time_s=1.5,
        examples=3,
        metrics=Metrics(accuracy=0.5),
        confusion=((1, 1), (0, 1)),
        class_names=("0", "1"),
    ),
    events.PredictionsSaved(time_s=1.5, path="predictions.npz", examples=3),
    events.StepsDone(
        time_s=1.5,
        step=3,
        steps=2,
        epoch=1,
        step_in_epoch=3,
        examples=128,
        loss=0.5,
        accuracy=0.9,
        examples_per_second=1e5,
    ),
    events.MemoryReported(
        time_s=1.0,
        process=1,
        devices=(AllocatedMemory(device_key="GPU-1", in_use_mib=100, peak_mib=200),),
    ),
    events.TimeReported(
        time_s=1.5,
        step=3,
        spent=TimeSpent(seconds=1.0, replicas=(ReplicaTime(computing_s=0.9, exchanging_s=0.1),)),
    ),
    events.EpochDone(time_s=1.5, epoch=1, step=3, metrics=Metrics(loss=0.5), seconds=1.0),
    events.CheckpointSaved(time_s=1.5, path="checkpoints/1", epoch=1, step=3, seconds=0.1),
    events.ClockJumped(time_s=1.5, gap_s=3_600.0),
    events.HoursEnded(time_s=1.5, hours="22:00-07:00", begin_s=54_000.0),
    events.RequestAnswered(time_s=1.5, request=Request.STOP),
    events.ModelSaved(time_s=1.5, path="model.keras"),
    events.FindingReported(
        time_s=1.5, problem=PROBLEM, since_s=1.25, cost_fraction=0.5, device_key="GPU-4090"
    ),
    events.ProblemReported(time_s=1.5, problem=PROBLEM),
    events.MemoryExhausted(
        time_s=1.5,
        process=1,
        device_key="GPU-1",
        logical_device="/device:GPU:0",
        asked_bytes=4_096,
        tensor_shape=(32, 32),
        tensor_type="float",
        limit_bytes=8_192,
        held_bytes=6_000,
    ),
    events.TrainingEnded(time_s=1.5, outcome=Outcome.FAILED, problem=PROBLEM),
    events.MemoryReturned(
        time_s=1.5,
        seconds=1.2,
        devices=(event_details.ReturnedMemory(device_key=RTX_4090.key, freed_mib=21_811),),
    ),
    events.RunEnded(time_s=1.5, outcome=Outcome.LOST, exit_code=-9, log_tail=("a", "b")),
]


def test_that_this_file_knows_every_event() -> None:
    assert {type(event) for event in EVERY_EVENT} == set(events.KnownEvent.__args__)


@pytest.mark.parametrize("event", EVERY_EVENT, ids=lambda event: event.kind)
def test_that_every_event_survives_the_way_to_a_line_and_back(event: Event) -> None:
    line = encode_event(event)
    assert "\n" not in line
    assert decode_event(line) == event
    assert decode_event(line.encode()) == event


@given(st.binary() | st.text())
def test_that_any_line_is_an_event_or_shown_as_unknown(line: bytes | str) -> None:
    assert isinstance(decode_event(line), UnknownEvent)


def test_that_a_text_without_end_does_not_make_an_event_long() -> None:
    detail = "The cause.\n" + "\N{FIRE}" * 10**6 + "\nValueError: the last line"
    problem = PROBLEM.model_copy(update={"detail": detail})
    ended = events.RunEnded(
        time_s=1.5, outcome=Outcome.FAILED, problem=problem, log_tail=("a" * 10**5, "b")
    )

    line = encode_event(ended)

    assert len(line.encode()) < 64 * 1024
    read = decode_event(line)
    assert isinstance(read, events.RunEnded)
    assert read.problem is not None
    assert read.problem.message == PROBLEM.message
    assert read.problem.detail.startswith("The cause.\n")
    assert read.problem.detail.endswith("ValueError: the last line")
    assert "characters left out" in read.problem.detail
    assert read.log_tail[1] == "b"


def test_that_an_event_of_many_numbers_keeps_them_all() -> None:
    shares = events.SharesChosen(
        time_s=1.5, step=1, shares=tuple(range(20_000)), speeds=(), reason="measured"
    )

    assert decode_event(encode_event(shares)) == shares


def test_that_an_event_of_a_newer_version_is_shown_as_unknown() -> None:
    line = '{"kind": "replica_rebalanced", "time_s": 1.0}'
    assert decode_event(line) == UnknownEvent(time_s=0.0, line=line)


def test_that_a_lost_or_failed_run_was_not_successful() -> None:
    unsuccessful = {outcome for outcome in Outcome if not outcome.was_successful}
    assert unsuccessful == {Outcome.FAILED, Outcome.LOST}


def test_that_a_plan_whose_shares_do_not_sum_to_the_batch_cannot_be() -> None:
    replica = PlannedReplica(index=0, device_key="cpu", logical_device="/device:CPU:0", share=3)
    with pytest.raises(ValidationError, match="shares do not sum"):
        LaunchPlan(
            environment={},
            devices=(),
            strategy=StrategyKind.ONE_DEVICE,
            replicas=(replica,),
            global_batch_size=4,
        )


def test_that_a_preview_survives_the_way_to_json_and_back() -> None:
    example = ExamplePreview(label="7", pixels_base64="AAAA", width=2, height=2, channels=1)
    preview = DataPreview(
        example_count=1, feature_shape=(2, 2, 1), class_counts=(("7", 1),), examples=(example,)
    )
    assert DataPreview.model_validate_json(preview.model_dump_json()) == preview


def test_that_devices_and_readings_are_found_by_key() -> None:
    assert TWO_UNEQUAL.device("GPU-4090") == RTX_4090
    assert TWO_UNEQUAL.device("GPU-gone") is None
    assert DeviceInventory(devices=(CPU,)).gpus == ()
    sample = TelemetrySample(time_s=0.0, readings=(DeviceReading(key="cpu"),))
    assert sample.reading("cpu") == DeviceReading(key="cpu")
    assert sample.reading("GPU-gone") is None


def test_that_the_names_in_a_run_are_those_that_scripts_rely_on(tmp_path: Path) -> None:
    layout = RunLayout(tmp_path / "2026-11-21T10-15-02-digits")
    found = {
        path.name
        for path in (
            layout.profile,
            layout.plan,
            layout.events,
            layout.telemetry,
            layout.trainer_log,
            layout.requests,
            layout.lock,
            layout.checkpoints,
            layout.tensorboard,
            layout.model,
            layout.heartbeats,
            layout.predictions("csv"),
            layout.confusion,
            layout.data_fingerprint,
            layout.process_log(0),
            layout.process_log(2),
        )
    }
    assert layout.name == "2026-11-21T10-15-02-digits"
    assert found == {
        "profile.toml",
        "plan.json",
        "events.jsonl",
        "telemetry.jsonl",
        "trainer.log",
        "requests",
        "run.lock",
        "checkpoints",
        "tensorboard",
        "model.keras",
        "heartbeats",
        "predictions.csv",
        "evaluation.npz",
        "data.json",
        "trainer-2.log",
    }


def test_that_a_process_learns_two_different_things_from_its_environment() -> None:
    assert len({SUPERVISOR_PID_VARIABLE, PROCESS_VARIABLE}) == 2


def test_that_only_a_refusal_leaves_the_process_its_last_word() -> None:
    causes = event_details.ShortageCause
    assert [cause for cause in causes if not cause.is_kill] == [causes.REFUSED]


def test_that_class_names_stand_in_an_event_unless_they_are_too_long_together() -> None:
    few = ("cat", "dog")
    many = ("a rather long name of a class",) * (MOST_NAME_CHARACTERS // 20)

    assert names_for_event(few) == few
    assert names_for_event(many) == ()
