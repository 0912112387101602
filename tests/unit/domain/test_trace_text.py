"""A trace in words: devices as the plan calls them, times of a step, shares."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.plan import LaunchPlan, PlannedDevice, PlannedProcess, PlannedReplica
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategyKind
from gpupanel.domain.trace import TracedDevice, TracedOperation, TraceRecord, TraceRequest
from gpupanel.domain.trace_text import (
    record_sentence,
    share_text,
    time_text,
    time_title,
    traced_device_text,
)


def gpu(index: int, name: str) -> PlannedDevice:
    return PlannedDevice(key=f"GPU-{index}", kind=DeviceKind.GPU, name=name, index=index)


def plan(*names: str, shares: tuple[int, ...] = (32,), kind: str = "CPU") -> LaunchPlan:
    return LaunchPlan(
        environment={},
        devices=tuple(gpu(number, name) for number, name in enumerate(names)),
        strategy=StrategyKind.MIRRORED,
        replicas=tuple(
            PlannedReplica(
                index=number,
                device_key=f"{kind}-{number}",
                logical_device=f"/device:{kind}:{number}",
                share=share,
            )
            for number, share in enumerate(shares)
        ),
        global_batch_size=sum(shares),
    )


def device(name: str, replica: int | None = None, seconds: float = 2.0) -> TracedDevice:
    return TracedDevice(
        name=name, replica=replica, seconds=seconds, operation_count=0, operations=()
    )


def operation(seconds: float) -> TracedOperation:
    return TracedOperation(name="conv/Conv2D", kind="Conv2D", seconds=seconds, count=10)


def record(**parts: object) -> TraceRecord:
    return TraceRecord(**{"time_s": 1.8e9, "first_step": 119, "steps": 10, "seconds": 1.5, **parts})


def test_that_a_gpu_is_called_by_its_name() -> None:
    names = plan("RTX 4090", "RTX 3060")
    assert traced_device_text(device("/device:GPU:1"), names, 0) == "RTX 3060"


def test_that_gpus_of_one_name_have_their_number_too() -> None:
    names = plan("RTX 4090", "RTX 4090")
    assert traced_device_text(device("/device:GPU:1"), names, 0) == "RTX 4090 (GPU:1)"


def test_that_a_gpu_that_the_plan_does_not_know_is_called_as_tensorflow_does() -> None:
    assert traced_device_text(device("/device:GPU:7"), plan("RTX 4090"), 0) == "GPU:7"


def test_that_a_process_that_the_plan_does_not_have_has_no_names() -> None:
    assert traced_device_text(device("/device:GPU:0"), plan("RTX 4090"), 3) == "GPU:0"


def test_that_the_devices_of_a_worker_are_those_of_its_process() -> None:
    workers = tuple(PlannedProcess(index=n, devices=(gpu(0, f"card {n}"),)) for n in (0, 1))
    names = plan("card 0", "card 1", shares=(16, 16)).model_copy(update={"processes": workers})
    assert traced_device_text(device("/device:GPU:0"), names, 1) == "card 1"


def test_that_what_the_cpu_does_beside_gpus_is_called_so() -> None:
    assert traced_device_text(device("/host:CPU"), plan("RTX"), 0) == "CPU, beside the GPUs"


def test_that_replicas_on_the_cpu_are_called_as_their_logical_devices() -> None:
    two = plan(shares=(16, 16))
    assert traced_device_text(device("/host:CPU", 1), two, 0) == "CPU:1"


def test_that_what_the_host_did_for_a_replica_on_a_gpu_is_not_called_that_gpu() -> None:
    two = plan("RTX 4090", "RTX 3060", shares=(16, 16), kind="GPU")
    assert traced_device_text(device("/host:CPU", 1), two, 0) == "CPU, for GPU:1"


def test_that_replicas_without_a_share_are_not_counted() -> None:
    # They are left out when the plan is carried out: TensorFlow's second replica is the third.
    assert traced_device_text(device("/host:CPU", 1), plan(shares=(8, 0, 8)), 0) == "CPU:2"


@pytest.mark.parametrize("shares", [(32,), (16, 16)])
def test_that_anything_else_on_the_cpu_is_the_cpu(shares: tuple[int, ...]) -> None:
    number = 0 if len(shares) == 1 else 5
    assert traced_device_text(device("/host:CPU", number), plan(shares=shares), 0) == "CPU"


def test_that_times_are_those_of_a_step() -> None:
    assert (time_title(record()), time_text(operation(0.012), record())) == ("ms a step", "1.200")


def test_that_times_are_whole_where_no_steps_are_counted() -> None:
    timed = record(first_step=None, steps=None)
    assert (time_title(timed), time_text(operation(0.012), timed)) == ("ms", "12.000")


@pytest.mark.parametrize(
    ("seconds", "shown"), [(1.0, "50 %"), (0.2, "10 %"), (0.03, "1.5 %"), (0.0, "0.0 %")]
)
def test_that_small_shares_keep_a_decimal(seconds: float, shown: str) -> None:
    assert share_text(operation(seconds), device("/host:CPU")) == shown


def test_that_a_device_that_took_no_time_divides_nothing() -> None:
    assert share_text(operation(0.0), device("/host:CPU", seconds=0.0)) == "0.0 %"


@pytest.mark.parametrize(
    ("parts", "processes", "sentence"),
    [
        ({}, {}, "Traced 10 steps, 120 to 129, in 1.50 s."),
        ({"process": 1}, {1: "worker 1"}, "Traced 10 steps of worker 1, 120 to 129, in 1.50 s."),
        ({"steps": 1}, {}, "Traced step 120, which took 1.500 s."),
        ({"first_step": None, "steps": None}, {0: "worker 0"}, "Traced 1.50 s of worker 0."),
    ],
)
def test_that_one_sentence_says_what_a_trace_holds(
    parts: dict[str, object], processes: dict[int, str], sentence: str
) -> None:
    assert record_sentence(record(**parts), processes) == sentence


@pytest.mark.parametrize("steps", [0, -1, 1_001, 10**400])
def test_that_as_many_steps_are_asked_for_as_a_file_can_hold(steps: int) -> None:
    with pytest.raises(ValidationError):
        TraceRequest(steps=steps)


@pytest.mark.parametrize("seconds", [-1.0, 1e300])
def test_that_a_strangers_trace_took_no_impossible_time(seconds: float) -> None:
    with pytest.raises(ValidationError):
        record(seconds=seconds)


def test_that_a_trace_stands_where_tensorboard_finds_it() -> None:
    layout = RunLayout(Path("/runs/a"))
    assert layout.trace(3).parent == layout.tensorboard
