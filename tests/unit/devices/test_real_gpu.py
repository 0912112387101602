"""On a machine with an NVIDIA GPU: the sampler against nvidia-smi. Skipped elsewhere."""

import shutil
import subprocess
import sys
from collections.abc import Iterator

import pytest

from gpupanel.devices.sampler import DeviceSampler
from gpupanel.domain.telemetry import DeviceState

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(shutil.which("nvidia-smi") is None, reason="needs an NVIDIA GPU"),
]

_QUERY = "uuid,name,pci.bus_id,memory.total,memory.used,temperature.gpu,driver_version,power.draw"
# Between the two lines somebody may allocate, and the card may cool: what must be equal is
# compared as equal, what moves with room.
_MEMORY_ROOM_MIB = 512
_TEMPERATURE_ROOM_C = 5.0
_POWER_ROOM_W = 100.0


@pytest.fixture
def sampler() -> Iterator[DeviceSampler]:
    with DeviceSampler() as sampler:
        yield sampler


def _nvidia_smi() -> list[list[str]]:
    answer = subprocess.run(
        ["nvidia-smi", f"--query-gpu={_QUERY}", "--format=csv,noheader,nounits"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return [[cell.strip() for cell in line.split(",")] for line in answer.stdout.splitlines()]


def test_that_the_sampler_and_nvidia_smi_agree(sampler: DeviceSampler) -> None:
    inventory, rows = sampler.inventory(), _nvidia_smi()
    sample = sampler.sample()

    assert [gpu.key for gpu in inventory.gpus] == [row[0] for row in rows]
    for gpu, (_, name, bus, total, used, temperature, driver, power) in zip(
        inventory.gpus, rows, strict=True
    ):
        reading = sample.reading(gpu.key)
        assert reading is not None
        assert reading.state is DeviceState.OK
        assert (gpu.name, gpu.pci_bus_id, inventory.driver) == (name, bus, driver)
        assert gpu.memory_total_mib == pytest.approx(float(total), abs=1.0)
        assert reading.memory_used_mib == pytest.approx(float(used), abs=_MEMORY_ROOM_MIB)
        assert reading.temperature_c == pytest.approx(float(temperature), abs=_TEMPERATURE_ROOM_C)
        if power.replace(".", "").isdigit():
            assert reading.power_w == pytest.approx(float(power), abs=_POWER_ROOM_W)


@pytest.mark.tensorflow
def test_that_a_tensorflow_process_is_listed_with_its_memory_and_gone_when_it_ends(
    sampler: DeviceSampler,
) -> None:
    code = (
        "import tensorflow as tf\n"
        "with tf.device('GPU:0'): x = tf.ones((1024, 1024)) @ tf.ones((1024, 1024))\n"
        "print('ready', float(x[0, 0]), flush=True)\n"
        "input()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as child:
        assert child.stdout is not None
        first_line = child.stdout.readline()
        if not first_line.startswith("ready"):
            pytest.skip("TensorFlow does not see this GPU: gpupanel doctor says why")
        during = _pids(sampler)
        child.communicate("\n", timeout=60)

    if not during:
        pytest.skip("NVML does not list processes here (another pid namespace)")
    assert child.pid in during
    assert child.pid not in _pids(sampler)


def _pids(sampler: DeviceSampler) -> set[int]:
    return {process.pid for reading in sampler.sample().readings for process in reading.processes}
