"""Whether the GPUs of a plan are still there when it is started."""

from pathlib import Path

import pytest

from gpupanel.devices.gpus import power_states
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.telemetry import DeviceState
from gpupanel.planning.context import Known
from gpupanel.planning.prepare import prepare
from gpupanel.runs.launcher import launch
from gpupanel.runs.readiness import (
    Machine,
    check_devices_answer,
    prepared_on,
    read_machine,
    read_machines_for,
)
from tests.fakes.devices import CPU_ONLY
from tests.nvml.laptop import Laptop
from tests.nvml.standin import (
    DRIVER_NOT_LOADED,
    GPU_IS_LOST,
    INSUFFICIENT_POWER,
    RTX_3060,
    TWO_UNEQUAL_GPUS,
    Standin,
    StandinState,
)


def planned() -> LaunchPlan:
    """On both GPUs of the stand-in, as they are now."""
    machine = read_machine()
    profile = Profile(
        devices=DeviceSettings(visible=tuple(gpu.key for gpu in machine.inventory.gpus)),
        strategy=StrategySettings(kind=StrategyKind.MIRRORED),
    )
    plan = prepare(profile, machine.inventory, Known(machine.sample)).plan
    assert plan is not None
    return plan


def test_that_gpus_that_answer_may_be_started_on(nvml_in_process: Standin) -> None:
    check_devices_answer(planned())


@pytest.mark.parametrize(
    ("state", "code", "words", "advice"),
    [
        (
            TWO_UNEQUAL_GPUS.with_gpu(1, lost=True),
            "device_not_answering",
            "GPU 1 does not answer: the driver says: GPU is lost (NVML error 15)",
            "Restart the machine",
        ),
        (
            TWO_UNEQUAL_GPUS.with_gpu(1, fail={"nvmlDeviceGetUUID": INSUFFICIENT_POWER}),
            "device_not_answering",
            "at 0000:02:00.0 does not answer: the driver says: Insufficient External Power",
            "plug in the power cables",
        ),
        (
            TWO_UNEQUAL_GPUS.with_gpu(1, fail={"nvmlDeviceGetCudaComputeCapability": GPU_IS_LOST}),
            "device_not_answering",
            "at 0000:02:00.0 does not answer: the driver says: GPU is lost",
            "Restart the machine",
        ),
        (
            TWO_UNEQUAL_GPUS.with_gpu(1, fail={"nvmlDeviceGetPowerUsage": GPU_IS_LOST}),
            "device_lost",
            "stopped answering: the driver says: GPU is lost (NVML error 15)",
            "Restart the machine",
        ),
        (
            StandinState(gpus=TWO_UNEQUAL_GPUS.gpus[:1]),
            "device_not_found",
            "is no longer in this machine",
            "taken out",
        ),
        (
            StandinState(gpus=(), init=DRIVER_NOT_LOADED),
            "device_lost",
            "cannot be reached",
            "not loaded",
        ),
    ],
    ids=["lost", "no power", "lost while listed", "lost since", "taken out", "the driver is gone"],
)
def test_that_a_gpu_that_went_after_the_plan_was_made_keeps_it_from_starting(
    nvml_in_process: Standin,
    state: StandinState,
    code: str,
    words: str,
    advice: str,
    tmp_path: Path,
) -> None:
    plan = planned()
    nvml_in_process.tell(state)

    with pytest.raises(ProblemError) as caught:
        launch(Profile(), plan, tmp_path / "runs")

    (problem,) = caught.value.problems
    assert problem.code == code
    assert RTX_3060.name in problem.message
    assert words in problem.message
    assert advice in problem.hint
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(("visible", "are_woken"), [((), True), (("cpu",), False)])
def test_that_a_sleeping_gpu_is_woken_for_a_profile_that_may_use_it_alone(
    nvml_in_process: Standin,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    visible: tuple[str, ...],
    are_woken: bool,
) -> None:
    laptop = Laptop(tmp_path)
    laptop.put(RTX_3060, "suspended")
    monkeypatch.setattr(power_states, "KERNEL_GPUS", laptop.kernel_gpus)
    monkeypatch.setattr(power_states, "PCI_DEVICES", laptop.pci_devices)
    machine = read_machines_for(Profile(devices=DeviceSettings(visible=visible)))
    assert machine.sample is not None
    reading = machine.sample.reading(RTX_3060.uuid)
    assert reading is not None
    assert reading.state is (DeviceState.OK if are_woken else DeviceState.ASLEEP)


def test_that_a_plan_on_the_cpu_asks_no_driver() -> None:
    plan = prepare(Profile(), CPU_ONLY).plan
    assert plan is not None

    def read() -> Machine:
        raise AssertionError("nobody is to be asked")

    check_devices_answer(plan, read)


@pytest.mark.parametrize(
    ("is_spoiled", "code"), [(True, "spoiled"), (False, "packages_of_elsewhere")]
)
def test_that_packages_of_elsewhere_keep_a_run_back_where_they_spoil_it_and_are_a_warning_else(
    is_spoiled: bool, code: str
) -> None:
    doubt = Problem(code="packages_of_elsewhere", severity=Severity.WARNING, message="Not ours.")
    spoiled = Problem(code="spoiled", message="TensorFlow cannot be imported.")
    asked: list[bool] = []

    def tried() -> Problem | None:
        asked.append(True)
        return spoiled if is_spoiled else None

    for inventory in (CPU_ONLY, CPU_ONLY.model_copy(update={"environment_problems": (doubt,)})):
        found = prepared_on(Machine(inventory), Profile(), try_import=tried)
    assert len(asked) == 1
    assert [each.code for each in found.problems if each.is_error or each == doubt] == [code]
    assert found.is_startable is not is_spoiled
