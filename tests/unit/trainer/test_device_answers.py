"""What is made of fewer devices than were planned, which TensorFlow has never made on any card."""

import pytest

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.plan import PlannedDevice
from gpupanel.domain.problem import ProblemError
from gpupanel.trainer.device_answers import device_answers

GPUS = tuple(
    PlannedDevice(key=f"GPU-{index}", kind=DeviceKind.GPU, name=f"NVIDIA H{index}", index=index)
    for index in range(2)
)


def test_that_a_device_is_named_that_tensorflow_made_none_of() -> None:
    names = {DeviceKind.GPU: ("/device:GPU:0",), DeviceKind.CPU: ("/device:CPU:0",)}
    with pytest.raises(ProblemError) as caught:
        device_answers(GPUS, names, {}, is_bounded=True)
    (problem,) = caught.value.problems
    assert problem.code == "logical_device_missing"
    assert problem.message == (
        "TensorFlow made no logical device of NVIDIA H1; it has /device:GPU:0."
    )


def test_that_logical_cpus_are_the_processor() -> None:
    cpu = PlannedDevice(
        key="cpu", kind=DeviceKind.CPU, name="the CPU", index=0, logical_limits_mib=(None, None)
    )
    names = {DeviceKind.CPU: ("/device:CPU:0", "/device:CPU:1", "/device:CPU:2")}
    answers = device_answers((cpu,), names, {}, is_bounded=True)
    assert [(each.name, each.device_key) for each in answers] == [
        (name, "cpu") for name in names[DeviceKind.CPU]
    ]
