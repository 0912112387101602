"""What is said before Start of GPUs that are counted and do not answer, and of lost ones."""

import pytest

from gpupanel.domain.device import DeviceInventory, UnresponsiveGpu
from gpupanel.domain.gpu_failure import GpuFailure
from gpupanel.domain.memory import LimitedMemory
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import DeviceDescription, DeviceSettings, Profile
from gpupanel.domain.telemetry import DeviceReading, DeviceState, TelemetrySample
from gpupanel.planning.chosen_devices import awake_gpus
from gpupanel.planning.context import Known
from gpupanel.planning.prepare import prepare
from tests.fakes.devices import CPU_ONLY, TWO_UNEQUAL

NO_POWER = GpuFailure(said="Insufficient External Power", code=8)
SILENT = UnresponsiveGpu(
    failure=NO_POWER, index=2, name="RTX 3070", pci_bus_id="00000000:03:00.0", key="GPU-3070"
)
NAMELESS = UnresponsiveGpu(failure=NO_POWER, index=2)


def problems(
    visible: tuple[str, ...], inventory: DeviceInventory, sample: TelemetrySample | None = None
) -> list[Problem]:
    profile = Profile(devices=DeviceSettings(visible=visible))
    found = prepare(profile, inventory, Known(sample)).problems
    return [each for each in found if each.code.startswith("device_") and each.is_error]


def beside(silent: UnresponsiveGpu, inventory: DeviceInventory = TWO_UNEQUAL) -> DeviceInventory:
    return inventory.model_copy(update={"unresponsive": (silent,)})


@pytest.mark.parametrize("key", ["GPU-3070", "2", "0000:03:00.0"])
def test_that_a_named_gpu_that_does_not_answer_is_named_with_what_the_driver_said(
    key: str,
) -> None:
    (problem,) = problems(("GPU-4090", key), beside(SILENT))
    assert problem.code == "device_not_answering"
    assert problem.message == (
        "RTX 3070 at 0000:03:00.0 does not answer: the driver says: Insufficient External Power "
        "(NVML error 8)."
    )
    assert "plug in the power cables" in problem.hint
    assert problem.fix is not None


def test_that_an_absent_gpu_may_be_the_one_that_does_not_tell_who_it_is() -> None:
    (problem,) = problems(("GPU-3070",), beside(NAMELESS))
    assert problem.code == "device_not_answering"
    assert "GPU-3070 is not among those that answer" in problem.message
    assert "GPU 2 does not answer: the driver says: Insufficient" in problem.message


def test_that_an_absent_gpu_beside_another_that_does_not_answer_is_not_in_this_machine() -> None:
    one, other = problems(("GPU-3070", "GPU-3080"), beside(SILENT))
    assert (one.code, other.code) == ("device_not_answering", "device_not_found")
    assert "GPU-3080 is not in this machine" in other.message


def test_that_who_names_no_device_is_told_which_gpu_is_left_out() -> None:
    found = prepare(Profile(), beside(SILENT)).problems
    (problem,) = (each for each in found if each.code == "device_not_answering")
    assert problem.severity is Severity.WARNING
    assert "The others are used without it" in problem.message
    plan = prepare(Profile(), beside(SILENT)).plan
    assert plan is not None
    assert "GPU-4090" in [device.key for device in plan.devices]


def test_that_the_cpu_is_not_meant_where_the_only_gpu_never_answered() -> None:
    (problem,) = problems((), beside(SILENT, CPU_ONLY))
    assert problem.code == "device_not_answering"
    assert problem.fix is not None
    assert problem.fix.changes[0].value == ["cpu"]
    assert problems(("cpu",), beside(SILENT, CPU_ONLY)) == []


def test_that_a_gpu_that_sleeps_is_no_reason_to_ask_more_of_it() -> None:
    readings = (
        DeviceReading(key="GPU-4090", state=DeviceState.ASLEEP),
        DeviceReading(key="GPU-3060"),
    )
    sample = TelemetrySample(time_s=0.0, readings=readings)
    assert problems(("GPU-4090",), TWO_UNEQUAL, sample) == []
    assert [gpu.key for gpu in awake_gpus(TWO_UNEQUAL, sample)] == ["GPU-3060"]
    assert len(awake_gpus(TWO_UNEQUAL, None)) == 2


@pytest.mark.parametrize(
    ("state", "failure", "words"),
    [
        (DeviceState.LOST, GpuFailure(said="GPU is lost", code=15), "GPU is lost (NVML error 15)"),
        (DeviceState.LOST, None, "it fell off the bus or its driver went away"),
        (DeviceState.NO_ANSWER, GpuFailure(said="it waits"), "stopped answering: it waits"),
    ],
)
def test_that_a_gpu_that_stopped_answering_says_what_came_back(
    state: DeviceState, failure: GpuFailure | None, words: str
) -> None:
    reading = DeviceReading(key="GPU-4090", state=state, failure=failure)
    sample = TelemetrySample(time_s=0.0, readings=(reading,))
    (problem,) = problems(("GPU-4090",), TWO_UNEQUAL, sample)
    assert problem.code == "device_lost"
    assert words in problem.message


def test_that_of_equal_gpus_the_lost_one_is_named_by_its_number() -> None:
    equal = [
        device.model_copy(update={"name": "RTX 3090"}) if device.is_gpu else device
        for device in TWO_UNEQUAL.devices
    ]
    inventory = TWO_UNEQUAL.model_copy(update={"devices": tuple(equal)})
    reading = DeviceReading(key=equal[1].key, state=DeviceState.LOST)
    sample = TelemetrySample(time_s=0.0, readings=(reading,))
    (problem,) = problems((equal[1].key,), inventory, sample)
    assert "RTX 3090 #2 stopped answering" in problem.message


def test_that_equal_gpus_have_numbers_in_what_is_said_and_their_own_name_in_the_plan() -> None:
    equal = [
        device.model_copy(update={"name": "RTX 3090"}) if device.is_gpu else device
        for device in TWO_UNEQUAL.devices
    ]
    inventory = TWO_UNEQUAL.model_copy(update={"devices": tuple(equal)})
    keys = tuple(device.key for device in equal if device.is_gpu)
    profile = Profile(
        devices=DeviceSettings(visible=keys),
        memory={keys[1]: LimitedMemory(limit_mib=99_999)},
    )
    preparation = prepare(profile, inventory)
    found = [each for each in preparation.problems if each.field.startswith("memory.")]
    assert "of RTX 3090 #2 are asked for" in found[0].message
    assert preparation.device_names == {keys[0]: "RTX 3090 #1", keys[1]: "RTX 3090 #2"}
    assert preparation.plan is not None
    assert {device.name for device in preparation.plan.devices} == {"RTX 3090"}


def test_that_an_absent_gpu_is_replaced_by_one_of_its_make_whatever_its_number() -> None:
    equal = [
        device.model_copy(update={"name": "RTX 3090"}) if device.key != "GPU-4090" else device
        for device in (*TWO_UNEQUAL.devices[:2], TWO_UNEQUAL.devices[1], TWO_UNEQUAL.devices[2])
    ]
    equal[2] = equal[2].model_copy(update={"key": "GPU-other"})
    inventory = TWO_UNEQUAL.model_copy(update={"devices": tuple(equal)})
    known = DeviceDescription(name="RTX 3090", memory_total_mib=24_564)
    profile = Profile(devices=DeviceSettings(visible=("GPU-old",), described={"GPU-old": known}))
    (problem,) = (e for e in prepare(profile, inventory).problems if e.code == "device_not_found")
    assert problem.fix is not None
    assert problem.fix.changes[0].value == ["GPU-3060"]
