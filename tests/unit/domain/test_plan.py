"""Whose memory a logical GPU is, and what its card is called."""

from gpupanel.domain.device import DeviceInventory, DeviceKind
from gpupanel.domain.plan import LaunchPlan, PlannedDevice, PlannedProcess, PlannedReplica
from gpupanel.domain.strategy import StrategyKind
from tests.fakes.devices import RTX_4090, TWO_UNEQUAL


def gpu(key: str, index: int, *limits: int) -> PlannedDevice:
    return PlannedDevice(
        key=key, kind=DeviceKind.GPU, name="A100", index=index, logical_limits_mib=limits
    )


CPU = PlannedDevice(key="cpu", kind=DeviceKind.CPU, name="the CPU", index=0)


def test_that_logical_gpus_are_numbered_over_all_gpus_of_a_process() -> None:
    process = PlannedProcess(devices=(CPU, gpu("GPU-b", 1), gpu("GPU-a", 0, 600, 300)))
    assert process.logical_gpus == ("GPU-a", "GPU-a", "GPU-b")


def test_that_equal_gpus_have_numbers() -> None:
    plan = LaunchPlan(
        environment={},
        devices=(gpu("GPU-a", 0), gpu("GPU-b", 1), CPU),
        strategy=StrategyKind.MIRRORED,
        replicas=(PlannedReplica(index=0, device_key="GPU-a", logical_device="", share=1),),
        global_batch_size=1,
    )
    names = [plan.device_name(key) for key in ("GPU-a", "GPU-b", "cpu", "GPU-gone")]
    assert names == ["A100 #1", "A100 #2", "the CPU", "GPU-gone"]
    second = RTX_4090.model_copy(update={"key": "GPU-second"})
    inventory = DeviceInventory(devices=(*TWO_UNEQUAL.devices, second))
    names = [inventory.name_of(key) for key in (RTX_4090.key, second.key, "GPU-3060", "gone")]
    assert names == ["RTX 4090 #1", "RTX 4090 #2", "RTX 3060", "gone"]


def test_that_no_more_examples_are_measured_at_a_time_than_learn() -> None:
    plan = LaunchPlan(
        environment={},
        devices=(CPU,),
        strategy=StrategyKind.MIRRORED,
        replicas=tuple(
            PlannedReplica(index=index, device_key="cpu", logical_device="", share=share)
            for index, share in enumerate((60, 4))
        ),
        global_batch_size=64,
    )
    sizes = (plan.model_copy(update={"accumulation_steps": steps}) for steps in (1, 3, 64))
    assert [each.measured_at_a_time for each in sizes] == [64, 21, 2]


def test_that_a_process_is_called_as_the_program_that_it_runs() -> None:
    assert PlannedProcess(program="train.py").name == "train.py"
    assert PlannedProcess().name == "the trainer"
