"""What TensorFlow answers to a plan, by its lists of devices and by its own log."""

import os
import sys
from pathlib import Path

import pytest

from gpupanel.domain.events import DevicesReady, TrainingEnded
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.planning.prepare import prepare
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.launcher import create_run
from tests.fakes.devices import CPU_ONLY
from tests.forked.processes import run_forked
from tests.unit.trainer.gpu_cases import BUSES, GPUS, Answers, Cases, ask, case, started

pytestmark = pytest.mark.tensorflow

WHOLE = ("growth", "growth")
FOREIGN = (
    "I0000 00:00:1795252530.166748   30453 gpu_device.cc:2040] Created device /job:localhost/"
    f"replica:0/task:0/device:GPU:0 with 999 MB memory:  -> device: 0, name: NVIDIA H2, "
    f"pci bus id: {BUSES[2]}, compute capability: 9.0\n"
)
"""Of a process that is not asked."""


def cases(foreign_log: Path) -> Cases:
    """What TensorFlow may make of two whole GPUs, and of others."""
    whole = started(WHOLE)
    instances = tuple(
        gpu.model_copy(update={"parent_key": "GPU-9", "pci_bus_id": "00000000:01:00.0"})
        for gpu in GPUS[:2]
    )
    small = tuple(gpu.model_copy(update={"memory_total_mib": 3_000}) for gpu in GPUS[:2])
    nowhere = tuple(gpu.model_copy(update={"pci_bus_id": None}) for gpu in GPUS)
    cpus = Profile(
        devices=DeviceSettings(visible=("cpu",), cpu_replicas=2),
        strategy=StrategySettings(kind=StrategyKind.MIRRORED),
    )
    on_cpu = prepare(cpus, CPU_ONLY).plan
    assert on_cpu is not None
    of_instances = started(WHOLE, StrategyKind.MULTI_WORKER, instances)
    return {
        "whole": case(whole),
        "split": case(started(("split", "limit"))),
        "CUDA's allocator": case(
            whole.with_available({"GPU-0": 9_000}).model_copy(
                update={
                    "environment": {**whole.environment, "TF_GPU_ALLOCATOR": "cuda_malloc_async"}
                }
            )
        ),
        "a split above the GPU": case(started(("split", "limit"), gpus=small)),
        "silent": case(whole, in_silence=True),
        "a log of another process": case(whole, log=str(foreign_log)),
        "other way round": case(whole, buses=BUSES[1::-1]),
        "another machine's": case(whole, buses=[BUSES[0], "0000:07:00.0"]),
        "instance 0": case(of_instances, 0, buses=[BUSES[0]]),
        "instance 1": case(of_instances, 1, buses=[BUSES[0]]),
        "places unknown": case(started(WHOLE, gpus=nowhere)),
        "more seen": case(started(("growth",)), gpus=3, buses=BUSES),
        "one seen": case(whole, gpus=1),
        "none seen": case(whole, gpus=0),
        "one made": case(whole, made=1),
        "one left out": case(
            whole,
            gpus=1,
            left_out=f"Ignoring visible gpu device (device: 0, name: NVIDIA H0, pci bus id: "
            f"{BUSES[0]}, compute capability: 3.5) with Cuda compute capability 3.5. The minimum "
            "required Cuda capability is 5.0.",
        ),
        "processor": case(on_cpu, gpus=0),
    }


@pytest.fixture(scope="module")
def tensorflow(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """What it answers in each case."""
    folder = tmp_path_factory.mktemp("run")
    foreign_log = folder / "trainer-1.log"
    foreign_log.write_text(FOREIGN, encoding="utf-8")
    return ask(cases(foreign_log), folder)


def test_that_gpus_that_the_plan_does_not_use_stay_hidden(tensorflow: Answers) -> None:
    assert tensorflow["more seen"]["visible"] == "0"
    assert [each["name"] for each in tensorflow["more seen"]["answers"]] == [
        "/device:GPU:0",
        "/device:CPU:0",
    ]


def test_that_what_tensorflow_says_in_its_log_is_reported(tensorflow: Answers) -> None:
    first, second, cpu = tensorflow["whole"]["answers"]
    assert first == {
        "name": "/device:GPU:0",
        "device_key": "GPU-0",
        "memory_limit_mib": None,
        "memory_taken_mib": 20_000,
        "pci_bus_id": BUSES[0],
        "is_as_planned": True,
    }
    assert (second["device_key"], second["pci_bus_id"]) == ("GPU-1", BUSES[1])
    assert (cpu["name"], cpu["device_key"]) == ("/device:CPU:0", "cpu")
    assert (cpu["memory_taken_mib"], cpu["is_as_planned"]) == (None, None)


def test_that_each_part_of_a_split_gpu_has_its_limit_and_its_place(tensorflow: Answers) -> None:
    answers = [
        (each["device_key"], each["memory_limit_mib"], each["memory_taken_mib"], each["pci_bus_id"])
        for each in tensorflow["split"]["answers"][:3]
    ]
    assert answers == [
        ("GPU-0", 2048, 2048, BUSES[0]),
        ("GPU-0", 1024, 1024, BUSES[0]),
        ("GPU-1", 4096, 4096, BUSES[1]),
    ]


def test_that_no_more_is_reported_of_a_limit_than_the_gpu_can_give(tensorflow: Answers) -> None:
    """TensorFlow repeats the limit, and gets what there is: 500 MiB are for the CUDA context."""
    answers = [
        (each["memory_limit_mib"], each["memory_taken_mib"])
        for each in tensorflow["a split above the GPU"]["answers"][:3]
    ]
    assert answers == [(2048, 2048), (1024, 452), (4096, 2500)]


def test_that_cudas_allocator_does_not_keep_to_what_tensorflow_says(tensorflow: Answers) -> None:
    taken = [each["memory_taken_mib"] for each in tensorflow["CUDA's allocator"]["answers"][:2]]
    assert taken == [9_000, None]


@pytest.mark.parametrize("name", ["silent", "a log of another process"])
def test_that_what_tensorflow_does_not_say_stays_unknown(tensorflow: Answers, name: str) -> None:
    reported = tensorflow[name]
    assert "problem" not in reported
    for answer in reported["answers"]:
        assert (answer["memory_taken_mib"], answer["pci_bus_id"]) == (None, None)
        assert answer["is_as_planned"] is None


def test_that_a_plan_without_places_leaves_it_open_which_gpu_is_meant(tensorflow: Answers) -> None:
    first = tensorflow["places unknown"]["answers"][0]
    assert (first["pci_bus_id"], first["is_as_planned"]) == (BUSES[0], None)


def test_that_the_instances_of_a_gpu_are_where_their_gpu_is(tensorflow: Answers) -> None:
    for name, key in (("instance 0", "GPU-0"), ("instance 1", "GPU-1")):
        first = tensorflow[name]["answers"][0]
        assert (first["device_key"], first["is_as_planned"]) == (key, True)


def test_that_a_run_on_another_gpu_than_planned_ends_and_names_both(tensorflow: Answers) -> None:
    reported = tensorflow["other way round"]
    assert [answer["is_as_planned"] for answer in reported["answers"][:2]] == [False, False]
    problem = reported["problem"]
    assert problem["code"] == "device_is_another"
    assert problem["message"] == (
        "TensorFlow means NVIDIA H1 (PCI bus 0000:41:00.0) by /device:GPU:0, but the plan means "
        "NVIDIA H0 (PCI bus 0000:01:00.0)."
    )
    assert "GPU:1" in problem["detail"]
    elsewhere = tensorflow["another machine's"]["problem"]["message"]
    assert "means another GPU (PCI bus 0000:07:00.0)" in elsewhere


def test_that_gpus_which_tensorflow_does_not_take_are_reported(tensorflow: Answers) -> None:
    problems = {
        name: tensorflow[name]["problem"]
        for name in ("one seen", "none seen", "one made", "one left out")
    }
    assert [problem["code"] for problem in problems.values()] == [
        "device_not_seen_by_tensorflow",
        "device_not_seen_by_tensorflow",
        "logical_device_missing",
        "device_not_seen_by_tensorflow",
    ]
    assert "only 1 of the planned GPUs" in problems["one seen"]["message"]
    assert "sees no GPU" in problems["none seen"]["message"]
    assert "NVIDIA H1" in problems["one made"]["message"]
    assert "leaves NVIDIA H0 out" in problems["one left out"]["message"]
    assert "minimum required Cuda capability is 5.0" in problems["one left out"]["message"]


def test_that_logical_cpus_are_the_processor(tensorflow: Answers) -> None:
    answers = tensorflow["processor"]["answers"]
    assert [(each["name"], each["device_key"]) for each in answers] == [
        ("/device:CPU:0", "cpu"),
        ("/device:CPU:1", "cpu"),
    ]


def test_that_a_trainer_on_another_gpu_reports_the_answer_and_ends(tmp_path: Path) -> None:
    layout = create_run(Profile(), started(("growth",)), tmp_path)
    with layout.trainer_log.open("ab") as log:
        done = run_forked(
            [
                sys.executable,
                str(Path(__file__).with_name("pretended_gpus.py")),
                "--run",
                str(layout.root),
                BUSES[2],
            ],
            env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
            stdout=log,
            stderr=log,
            check=False,
        )

    reported = RunFollower(layout).poll().events
    assert done.returncode == 1, layout.trainer_log.read_text(encoding="utf-8")[-4000:]
    ready, ended = reported[-2:]
    assert isinstance(ready, DevicesReady)
    assert (ready.process, ready.logical_devices[0].is_as_planned) == (0, False)
    assert isinstance(ended, TrainingEnded)
    assert ended.problem is not None
    assert ended.problem.code == "device_is_another"
