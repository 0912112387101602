"""What is read from a profiler's trace: operations of each device, and what they cost."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from gpupanel.domain.trace import TraceAnswer, TracedDevice
from tests.forked.processes import run_forked
from tests.unit.trainer.trained_runs import CHILD_ENVIRONMENT

pytestmark = pytest.mark.tensorflow

Answers = Mapping[str, TraceAnswer]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    root = tmp_path_factory.mktemp("traces")
    program = Path(__file__).with_name("written_traces.py")
    done = run_forked(
        [sys.executable, str(program), str(root)],
        env=CHILD_ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout.splitlines()[-1])
    return {name: TraceAnswer.model_validate(each) for name, each in found.items()}


def microseconds(device: TracedDevice) -> dict[str, int]:
    return {each.name: round(1e6 * each.seconds) for each in device.operations}


def test_that_gpus_come_in_order_and_the_host_after_them(answers: Answers) -> None:
    devices = answers["gpus"].devices
    assert [each.name for each in devices] == ["/device:GPU:0", "/device:GPU:1", "/host:CPU"]
    # Beside GPUs nothing on the host is a replica's own.
    assert [each.replica for each in devices] == [None, None, None]
    assert microseconds(devices[2]) == {"conv/Conv2D": 10}


def test_that_a_kernel_counts_for_the_operation_that_launched_it(answers: Answers) -> None:
    (operation,) = answers["gpus"].devices[1].operations
    assert (operation.name, operation.kind) == ("conv/Conv2D", "Conv2D")
    # The line "Steps" sums up others.
    assert round(1e6 * operation.seconds) == 100


def test_that_what_xla_or_the_driver_did_is_listed_by_its_own_name(answers: Answers) -> None:
    found = answers["gpus"].devices[0]
    assert microseconds(found) == {"conv/Conv2D": 100, "fusion.3": 50, "MemcpyH2D": 20}
    assert {each.kind for each in found.operations} == {"Conv2D", "sm80_xmma", "MemcpyH2D"}


def test_that_what_is_inside_an_operation_counts_once(answers: Answers) -> None:
    (device,) = answers["nested"].devices
    assert microseconds(device) == {"outer/While": 70, "inner/Mul": 30}
    assert round(1e6 * device.seconds) == 100


def test_that_executions_of_an_operation_add_up(answers: Answers) -> None:
    (operation,) = answers["twice"].devices[0].operations
    assert (operation.count, round(1e6 * operation.seconds)) == (2, 40)


def test_that_operations_on_the_cpu_are_listed_for_their_replica(answers: Answers) -> None:
    first, second = answers["replicas"].devices
    assert (first.replica, second.replica) == (0, 1)
    assert microseconds(first) == {
        "trained_1/dense_1_1/MatMul": 8,
        "update_0_3/ResourceApplyAdam": 6,
        "NoOp": 5,
    }
    assert microseconds(second) == {
        "gradients/trained_1/dense_1_1/MatMul_grad/MatMul": 9,
        "update_1_3/ResourceApplyAdam": 7,
    }


def test_that_the_ten_most_expensive_are_listed(answers: Answers) -> None:
    (device,) = answers["many"].devices
    assert [each.name for each in device.operations] == [f"op{n}/Mul" for n in range(10)]
    assert device.operation_count == 25
    assert round(1e6 * device.seconds) == sum(30 - n for n in range(25))


@pytest.mark.parametrize("name", ["no operations"])
def test_that_a_trace_without_operations_says_so(answers: Answers, name: str) -> None:
    assert [each.code for each in answers[name].problems] == ["trace_empty"]


@pytest.mark.parametrize(
    ("name", "code"),
    [("damaged", "trace_damaged"), ("linked", "run_folder_unsafe"), ("missing", "trace_empty")],
)
def test_that_what_is_no_trace_is_a_problem(answers: Answers, name: str, code: str) -> None:
    (problem,) = answers[name].problems
    assert problem.code == code
    assert not answers[name].devices


def test_that_a_strangers_trace_acts_on_nothing(answers: Answers) -> None:
    found = answers["strange"]
    assert all(each.isprintable() for each in found.notes)
    assert len(found.notes) == 20
    (device,) = found.devices
    assert {each.name for each in device.operations} == {"one/Mul"}
    assert 0.0 <= device.seconds <= 1e9
