"""On a machine with an NVIDIA GPU: what we tell against nvidia-smi. Skipped elsewhere."""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from gpupanel.devices.sampler import PATIENT_S, DeviceSampler
from gpupanel.domain.device import LinkKind, PhysicalDevice
from gpupanel.domain.telemetry import DeviceReading, DeviceState, ThrottleReason
from tests.unit.devices.nvidia_smi import SmiGpu, smi_gpus, smi_mig_instances, smi_topology

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(shutil.which("nvidia-smi") is None, reason="needs an NVIDIA GPU"),
]

_STATIC = ("name", "pci.bus_id", "driver_version", "compute_cap", "memory.total")
_STATIC += ("pcie.link.gen.max", "pcie.link.width.max", "mig.mode.current", "enforced.power.limit")

# Between the two looks somebody may allocate and the GPU may cool, clock down or change its link:
# what moves is compared with room, again and again until all of it agrees.
_AGREES_WITHIN_S = 15.0
_Moving = Callable[[DeviceReading], float | None]
_MOVING: tuple[tuple[tuple[str, ...], _Moving, float], ...] = (
    (("memory.used",), lambda reading: reading.memory_used_mib, 64.0),
    (("memory.free",), lambda reading: reading.memory_free_mib, 64.0),
    (("memory.reserved",), lambda reading: reading.memory_reserved_mib, 2.0),
    (("utilization.gpu",), lambda reading: reading.gpu_utilization_percent, 15.0),
    (("utilization.memory",), lambda reading: reading.memory_utilization_percent, 15.0),
    (("temperature.gpu",), lambda reading: reading.temperature_c, 3.0),
    (("power.draw",), lambda reading: reading.power_w, 40.0),
    (("enforced.power.limit",), lambda reading: reading.power_limit_w, 1.0),
    (("fan.speed",), lambda reading: reading.fan_percent, 10.0),
    (("clocks.sm",), lambda reading: reading.clock_mhz, 100.0),
    (("clocks.mem",), lambda reading: reading.memory_clock_mhz, 100.0),
    (("pcie.link.gen.current",), lambda reading: reading.pcie_generation, 0.0),
    (("pcie.link.width.current",), lambda reading: reading.pcie_width, 0.0),
    (("ecc.errors.corrected.volatile.total",), lambda reading: reading.ecc_corrected, 0.0),
    (("ecc.errors.uncorrected.volatile.total",), lambda reading: reading.ecc_uncorrected, 0.0),
)
_RETIRED = ("retired_pages.single_bit_ecc.count", "retired_pages.double_bit.count")
_REASONS = ("clocks_event_reasons.active", "clocks_throttle_reasons.active")
_QUERY = (*_STATIC, *(name for names, _, _ in _MOVING for name in names), *_RETIRED, *_REASONS)

# Bits of nvml.h, written down a second time so that the two can disagree.
_BITS = {
    0x1: ThrottleReason.IDLE,
    0x2: ThrottleReason.APPLICATION_CLOCKS,
    0x4: ThrottleReason.POWER_CAP,
    0x8: ThrottleReason.HARDWARE_SLOWDOWN,
    0x10: ThrottleReason.SYNC_BOOST,
    0x20: ThrottleReason.THERMAL,
    0x40: ThrottleReason.HARDWARE_THERMAL,
    0x80: ThrottleReason.HARDWARE_POWER_BRAKE,
    0x100: ThrottleReason.DISPLAY_CLOCKS,
}
_LINKS = {
    "SYS": LinkKind.SYSTEM,
    "NODE": LinkKind.NUMA_NODE,
    "PHB": LinkKind.HOST_BRIDGE,
    "PXB": LinkKind.PCIE_SWITCHES,
    "PIX": LinkKind.PCIE_SWITCH,
    "PSB": LinkKind.SAME_BOARD,
}


@pytest.fixture
def sampler() -> Iterator[DeviceSampler]:
    with DeviceSampler(wait_s=PATIENT_S) as sampler:
        yield sampler


def _whole_gpus(sampler: DeviceSampler) -> list[PhysicalDevice]:
    devices = sampler.inventory().devices
    return [device for device in devices if device.is_gpu and not device.is_mig_instance]


def test_that_what_does_not_change_is_what_nvidia_smi_says(sampler: DeviceSampler) -> None:
    said = smi_gpus(_QUERY)
    gpus = _whole_gpus(sampler)

    assert [gpu.key for gpu in gpus] == list(said)
    for gpu in gpus:
        smi = said[gpu.key]
        assert (gpu.name, gpu.pci_bus_id) == (smi.fields["name"], smi.fields["pci.bus_id"])
        assert sampler.inventory().driver == smi.fields["driver_version"]
        assert gpu.memory_total_mib == pytest.approx(smi.number("memory.total"), abs=1.0)
        if smi.knows("compute_cap") and gpu.compute_capability is not None:
            major, minor = gpu.compute_capability
            assert f"{major}.{minor}" == smi.fields["compute_cap"]
        assert gpu.pcie_generation_max == smi.number("pcie.link.gen.max")
        assert gpu.pcie_width_max == smi.number("pcie.link.width.max")
        assert gpu.is_partitioned == (smi.fields.get("mig.mode.current") == "Enabled")
        assert gpu.architecture == smi.texts.get("product_architecture", gpu.architecture)
        # Newer boards tell their thresholds as a distance from the limit.
        for ours, tag in (
            (gpu.temperature_slowdown_c, "gpu_temp_slow_threshold"),
            (gpu.temperature_shutdown_c, "gpu_temp_max_threshold"),
        ):
            theirs = smi.text_number(tag)
            assert theirs is None or ours == theirs


def test_that_what_moves_agrees_with_nvidia_smi(sampler: DeviceSampler) -> None:
    end_s = time.monotonic() + _AGREES_WITHIN_S
    while True:
        sample, said = sampler.sample(), smi_gpus(_QUERY)
        differing: list[str] = []
        for gpu in _whole_gpus(sampler):
            reading = sample.reading(gpu.key)
            assert reading is not None
            assert reading.state is DeviceState.OK
            differing += _differing(gpu.name, reading, said[gpu.key])
        if not differing:
            return
        assert time.monotonic() < end_s, differing
        time.sleep(0.5)


def _differing(name: str, reading: DeviceReading, smi: SmiGpu) -> Iterator[str]:
    for names, ours_of, room in _MOVING:
        if not smi.knows(*names):
            continue
        ours, theirs = ours_of(reading), smi.number(*names)
        if (ours is None) != (theirs is None) or (
            ours is not None and theirs is not None and abs(ours - theirs) > room
        ):
            yield f"{name}: {names[0]} is {ours} here, {theirs} in nvidia-smi"
    mask = next((smi.fields[name] for name in _REASONS if name in smi.fields), None)
    if mask is not None and mask.startswith("0x"):
        reasons = {reason for bit, reason in _BITS.items() if int(mask, 16) & bit}
        if reasons != set(reading.throttle_reasons or ()):
            yield f"{name}: {mask} is {reading.throttle_reasons} here"
    pages = [smi.number(field) for field in _RETIRED]
    known = [count for count in pages if count is not None]
    out_of_use = smi.remapped_rows if smi.remapped_rows is not None else sum(known)
    if (known or smi.remapped_rows is not None) and reading.retired_pages != out_of_use:
        yield f"{name}: {reading.retired_pages} pages here, {out_of_use} in nvidia-smi"


def test_that_mig_instances_are_those_of_nvidia_smi(sampler: DeviceSampler) -> None:
    ours = {device.key for device in sampler.inventory().devices if device.is_mig_instance}

    assert ours == smi_mig_instances()


def test_that_links_are_those_of_nvidia_smi(sampler: DeviceSampler) -> None:
    keys = [gpu.key for gpu in _whole_gpus(sampler)]
    if len(keys) < 2:
        pytest.skip("one GPU has nothing to be connected with")
    links = {link.keys: link for link in sampler.inventory().links}

    topology = smi_topology()

    assert len(topology) == len(keys)
    for place, one in enumerate(keys):
        for other_place in range(place + 1, len(keys)):
            said, link = topology[place][other_place], links[one, keys[other_place]]
            if said.startswith("NV"):
                assert (link.kind, link.nvlink_count) == (LinkKind.NVLINK, int(said[2:]))
            else:
                assert link.kind is _LINKS[said]


def test_that_the_terminal_reports_the_same_as_the_sampler(sampler: DeviceSampler) -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "gpupanel", "devices", "--json"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    told = {device["key"]: device for device in json.loads(answer.stdout)["devices"]}

    for device in sampler.inventory().devices:
        facts = device.model_dump(mode="json")
        # The limit in force may be read anew.
        del facts["power_limit_w"]
        assert {name: told[device.key][name] for name in facts} == facts


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
