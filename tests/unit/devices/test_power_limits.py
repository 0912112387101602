"""Power limits are read, set and refused: the real pynvml against the stand-in library."""

import pytest

from gpupanel.devices.power_limits import set_power_limit
from gpupanel.devices.sampler import PATIENT_S, DeviceSampler
from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.problem import ProblemError
from tests.nvml.standin import (
    NO_PERMISSION,
    NOT_SUPPORTED,
    RTX_4090,
    TWO_UNEQUAL_GPUS,
    Standin,
)

SETTER = "nvmlDeviceSetPowerManagementLimit"


def listed() -> PhysicalDevice:
    """The first GPU as it is listed now."""
    with DeviceSampler(wait_s=PATIENT_S) as sampler:
        found = sampler.inventory().device(RTX_4090.uuid)
    assert found is not None
    return found


def refused(gpu: PhysicalDevice, limit_w: float) -> tuple[str, str, str]:
    with pytest.raises(ProblemError) as error:
        set_power_limit(gpu, limit_w)
    (problem,) = error.value.problems
    return problem.code, problem.message, problem.command


def test_that_a_gpu_says_its_limits(nvml_in_process: Standin) -> None:
    gpu = listed()

    assert (gpu.power_limit_w, gpu.power_limit_default_w) == (450.0, 450.0)
    assert (gpu.power_limit_least_w, gpu.power_limit_most_w) == (10.0, 600.0)


def test_that_limits_that_cannot_be_true_are_not_known(nvml_in_process: Standin) -> None:
    nvml_in_process.tell(
        TWO_UNEQUAL_GPUS.with_gpu(0, power_limit_least_mw=600_000, power_limit_most_mw=10_000)
    )
    gpu = listed()

    assert (gpu.power_limit_least_w, gpu.power_limit_most_w) == (None, None)


def test_that_a_limit_that_is_set_is_in_force(nvml_in_process: Standin) -> None:
    set_power_limit(listed(), 250.0)

    assert listed().power_limit_w == 250.0


def test_that_an_administrator_is_given_the_command_where_this_user_may_not(
    nvml_in_process: Standin,
) -> None:
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, fail={SETTER: NO_PERMISSION}))
    code, message, command = refused(listed(), 250.0)

    assert code == "power_limit_not_permitted"
    assert "it is the administrator's to set" in message
    assert command == f"sudo nvidia-smi -i {RTX_4090.uuid} -pl 250"
    assert listed().power_limit_w == 450.0


def test_that_a_limit_beyond_the_bounds_is_refused_without_asking(
    nvml_in_process: Standin,
) -> None:
    gpu = listed()
    for limit_w in (5.0, 601.0, 0.0, -1.0):
        assert refused(gpu, limit_w)[0] == "power_limit_out_of_bounds"
    unbounded = gpu.model_copy(update={"power_limit_least_w": None, "power_limit_most_w": None})
    code, message, _ = refused(unbounded, 5.0)
    assert code == "power_limit_not_set"
    assert "was not set to 5 W" in message


def test_that_a_fixed_limit_and_a_gpu_that_is_gone_are_said(nvml_in_process: Standin) -> None:
    gpu = listed()
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, fail={SETTER: NOT_SUPPORTED}))
    assert refused(gpu, 250.0)[0] == "power_limit_not_set"
    other = gpu.model_copy(update={"key": "GPU-elsewhere"})
    assert "does not list it any more" in refused(other, 250.0)[1]


def test_that_a_driver_that_is_not_there_is_said(nvml_in_process: Standin) -> None:
    gpu = listed()
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, lost=True))
    assert refused(gpu, 250.0)[0] == "power_limit_not_set"
