"""Which GPUs a shell leaves by ``CUDA_VISIBLE_DEVICES``, and what its numbers count."""

import pytest

from gpupanel.domain.cuda_variables import FASTEST_FIRST, PCI_BUS_ORDER, CudaVariables
from gpupanel.domain.device import DeviceInventory, DeviceKind, PhysicalDevice
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.telemetry import DeviceReading, DeviceState, TelemetrySample
from gpupanel.planning.chosen_devices import answering_gpus, chosen_devices
from gpupanel.planning.context import Known
from gpupanel.planning.fewer_gpus import on_other_gpus
from gpupanel.planning.prepare import prepare
from gpupanel.planning.starting_profile import starting_profile
from gpupanel.planning.visible_gpus import (
    cuda_variables_of,
    default_gpus,
    named_gpus,
    variables_of_plan,
)
from tests.fakes.devices import CPU, CPU_ONLY, RTX_3060, RTX_4090, TWO_UNEQUAL

SLOW_FIRST = DeviceInventory(driver="580.65", devices=(RTX_3060, RTX_4090, CPU))


def a_gpu(key: str, capability: tuple[int, int] | None, memory: int | None) -> PhysicalDevice:
    return PhysicalDevice(
        key=key,
        kind=DeviceKind.GPU,
        name=key,
        compute_capability=capability,
        memory_total_mib=memory,
    )


def of_shell(inventory: DeviceInventory, visible: str | None, order: str = "") -> DeviceInventory:
    variables = CudaVariables(visible_devices=visible, device_order=order)
    return inventory.model_copy(update={"cuda_variables": variables})


def chosen(inventory: DeviceInventory, *named: str) -> list[str]:
    profile = Profile(devices=DeviceSettings(visible=named))
    return [device.key for device in chosen_devices(profile, inventory)]


@pytest.mark.parametrize(
    ("visible", "keys"),
    [
        (None, ["GPU-4090", "GPU-3060"]),
        ("1", ["GPU-3060"]),
        ("1,0", ["GPU-3060", "GPU-4090"]),
        ("GPU-30", ["GPU-3060"]),
        ("0,7,1", ["GPU-4090"]),
        ("", ["cpu"]),
        ("-1", ["cpu"]),
        ("NoDevFiles", ["cpu"]),
    ],
)
def test_that_a_profile_that_names_no_device_means_those_that_the_shell_leaves(
    visible: str | None, keys: list[str]
) -> None:
    assert chosen(of_shell(TWO_UNEQUAL, visible)) == keys


def test_that_a_profile_that_names_devices_has_them_whatever_the_shell_says() -> None:
    assert chosen(of_shell(TWO_UNEQUAL, "1"), "GPU-4090") == ["GPU-4090"]
    assert chosen(of_shell(TWO_UNEQUAL, ""), "GPU-4090", "GPU-3060") == ["GPU-4090", "GPU-3060"]


def test_that_a_machine_without_gpus_trains_on_its_processor() -> None:
    assert chosen(of_shell(CPU_ONLY, "0")) == ["cpu"]


def test_that_a_gpu_that_the_shell_leaves_and_that_does_not_answer_is_not_replaced_by_another() -> (
    None
):
    lost = DeviceReading(key="GPU-3060", state=DeviceState.LOST)
    sample = TelemetrySample(time_s=0.0, readings=(lost,))
    inventory = of_shell(TWO_UNEQUAL, "1")
    (problem,) = (p for p in prepare(Profile(), inventory, Known(sample)).problems if p.is_error)
    assert problem.code == "device_lost"
    assert "RTX 3060" in problem.message
    # Of one that the shell leaves out, nothing is said.
    other = prepare(Profile(), of_shell(TWO_UNEQUAL, "0"), Known(sample))
    assert "device_lost" not in {problem.code for problem in other.problems}


@pytest.mark.parametrize(
    ("inventory", "order", "key", "is_sure"),
    [
        # The fastest stands first on the bus: every order says the same.
        (TWO_UNEQUAL, "", "GPU-4090", True),
        (TWO_UNEQUAL, PCI_BUS_ORDER, "GPU-4090", True),
        (TWO_UNEQUAL, FASTEST_FIRST, "GPU-4090", True),
        # It does not.
        (SLOW_FIRST, "", "GPU-3060", False),
        (SLOW_FIRST, "nonsense", "GPU-3060", False),
        (SLOW_FIRST, PCI_BUS_ORDER, "GPU-3060", True),
        (SLOW_FIRST, FASTEST_FIRST, "GPU-4090", True),
    ],
)
def test_that_numbers_count_by_the_pci_bus_and_it_is_known_where_cuda_may_count_otherwise(
    inventory: DeviceInventory, order: str, key: str, is_sure: bool
) -> None:
    visible = named_gpus(inventory, "0", order)
    assert ([gpu.key for gpu in visible.gpus], visible.is_sure) == ([key], is_sure)
    # A UUID means the same in every order.
    assert named_gpus(inventory, key, order).is_sure


def test_that_equal_gpus_have_one_order_and_newer_ones_with_less_memory_have_not() -> None:
    equal = DeviceInventory(
        devices=(a_gpu("GPU-a", (8, 0), 81_920), a_gpu("GPU-b", (8, 0), 81_920))
    )
    assert named_gpus(equal, "1", "").is_sure
    large_first = (a_gpu("GPU-a", (8, 6), 24_576), a_gpu("GPU-b", (8, 9), 8_188))
    for gpus in (large_first, large_first[::-1]):
        for order in ("", FASTEST_FIRST):
            assert not named_gpus(DeviceInventory(devices=gpus), "0", order).is_sure
    unknown = DeviceInventory(devices=(a_gpu("GPU-a", None, None), RTX_4090))
    assert not named_gpus(unknown, "0", "").is_sure


def test_that_the_number_of_a_gpu_in_mig_mode_means_its_first_instance() -> None:
    whole = a_gpu("GPU-mig", (9, 0), 81_920).model_copy(update={"is_partitioned": True})
    instances = [
        a_gpu(key, (9, 0), 10_240).model_copy(update={"parent_key": "GPU-mig"})
        for key in ("MIG-a", "MIG-b")
    ]
    inventory = DeviceInventory(devices=(whole, *instances, CPU))
    assert chosen(of_shell(inventory, "0")) == ["MIG-a"]
    assert chosen(of_shell(inventory, "MIG-b")) == ["MIG-b"]
    without = DeviceInventory(devices=(whole, CPU))
    assert named_gpus(without, "0", "").wrong_entry == "0"


def test_that_the_variables_are_read_as_a_shell_or_a_job_means_them() -> None:
    assert cuda_variables_of({}) == CudaVariables()
    shell = {"CUDA_VISIBLE_DEVICES": "1", "CUDA_DEVICE_ORDER": "FASTEST_FIRST"}
    assert cuda_variables_of(shell) == CudaVariables(
        visible_devices="1", device_order=FASTEST_FIRST
    )
    job = cuda_variables_of({**shell, "SLURM_JOB_ID": "7"})
    assert job == CudaVariables(visible_devices="1", device_order=PCI_BUS_ORDER)
    assert cuda_variables_of({"SLURM_JOB_ID": "7"}) == CudaVariables(
        visible_devices="", device_order=PCI_BUS_ORDER, job_has_none=True
    )
    # A byte that is no text, as a shell may hold it: it can be written into a file nevertheless.
    odd = cuda_variables_of({"CUDA_VISIBLE_DEVICES": "\udce9", "CUDA_DEVICE_ORDER": "\udce9"})
    assert odd == CudaVariables(visible_devices="\\xe9", device_order="\\xe9")


def test_that_a_run_means_the_gpus_of_its_plan_when_one_of_them_is_lost() -> None:
    four = DeviceInventory(devices=(*(a_gpu(f"GPU-{n}", (8, 0), 81_920) for n in range(4)), CPU))
    profile = Profile(strategy=StrategySettings(kind=StrategyKind.MIRRORED))
    plan = prepare(profile, of_shell(four, "2,3")).plan
    assert plan is not None
    there = four.model_copy(update={"cuda_variables": variables_of_plan(plan)})
    fewer = on_other_gpus(profile, there, frozenset({"GPU-2"}))
    assert fewer is not None
    assert fewer[0].devices.visible == ("GPU-3",)


def test_that_a_run_on_the_processor_means_no_gpu_later() -> None:
    plan = prepare(Profile(), of_shell(TWO_UNEQUAL, "")).plan
    assert plan is not None
    there = TWO_UNEQUAL.model_copy(update={"cuda_variables": variables_of_plan(plan)})
    assert default_gpus(there) == ()


def test_that_the_first_profile_of_a_window_divides_batches_over_what_the_shell_leaves() -> None:
    assert starting_profile(TWO_UNEQUAL).strategy.kind is StrategyKind.MIRRORED
    assert starting_profile(of_shell(TWO_UNEQUAL, "1")).strategy.kind is StrategyKind.ONE_DEVICE


def test_that_whether_a_gpu_answers_has_nothing_to_do_with_the_shell() -> None:
    lost = DeviceReading(key="GPU-3060", state=DeviceState.LOST)
    sample = TelemetrySample(time_s=0.0, readings=(lost,))
    inventory = of_shell(TWO_UNEQUAL, "1")
    assert [gpu.key for gpu in answering_gpus(inventory, sample)] == ["GPU-4090"]
    assert answering_gpus(inventory, None) == TWO_UNEQUAL.gpus
