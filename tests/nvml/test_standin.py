"""The stand-in itself, seen through the real pynvml."""

import os
import subprocess
import sys

import pytest

from tests.nvml.standin import DRIVER_NOT_LOADED, TWO_UNEQUAL_GPUS, Standin, StandinState

_NAMES = """
import pynvml
pynvml.nvmlInit()
for index in range(pynvml.nvmlDeviceGetCount()):
    print(pynvml.nvmlDeviceGetName(pynvml.nvmlDeviceGetHandleByIndex(index)))
pynvml.nvmlShutdown()
"""


def _names_in_a_child(environment: dict[str, str]) -> list[str]:
    answer = subprocess.run(
        [sys.executable, "-c", _NAMES],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return answer.stdout.splitlines()


def test_that_a_child_finds_two_unequal_gpus(nvml_environment: dict[str, str]) -> None:
    assert _names_in_a_child(nvml_environment) == [
        "NVIDIA GeForce RTX 4090",
        "NVIDIA GeForce RTX 3060",
    ]


def test_that_a_child_finds_eight_gpus(eight_gpu_environment: dict[str, str]) -> None:
    assert _names_in_a_child(eight_gpu_environment) == ["NVIDIA H100 80GB HBM3"] * 8


def test_that_without_a_state_file_no_driver_is_loaded(
    nvml_in_process: Standin, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pynvml

    monkeypatch.delenv("GPUPANEL_TEST_NVML_STATE")

    with pytest.raises(pynvml.NVMLError) as caught:
        pynvml.nvmlInit()

    assert caught.value.value == DRIVER_NOT_LOADED


def test_that_a_changed_file_is_answered_from_the_next_call_on(nvml_in_process: Standin) -> None:
    import pynvml

    pynvml.nvmlInit()
    handle = pynvml.nvmlDeviceGetHandleByIndex(0)
    before = pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU)

    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(0, temperature_c=83))
    after = pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU)
    pynvml.nvmlShutdown()

    assert (before, after) == (51, 83)


def test_that_a_list_of_no_gpus_is_a_driver_without_gpus(nvml_in_process: Standin) -> None:
    import pynvml

    nvml_in_process.tell(StandinState(gpus=()))
    pynvml.nvmlInit()
    count = pynvml.nvmlDeviceGetCount()
    pynvml.nvmlShutdown()

    assert count == 0
