"""The GPUs that a batch system gives to a job stand in the places of those that a profile names."""

import pytest

from gpupanel.domain.device import DeviceInventory, DeviceKind, PhysicalDevice
from gpupanel.domain.memory import GrowingMemory, LimitedMemory, SplitMemory
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import DeviceDescription, DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.planning.allocated_devices import allocated_gpus, on_allocated
from gpupanel.planning.visible_gpus import cuda_variables_of
from tests.fakes.devices import CPU, CPU_ONLY


def a_gpu(key: str, **facts: object) -> PhysicalDevice:
    return PhysicalDevice(key=key, kind=DeviceKind.GPU, name="A100", **facts)


INSTANCE = a_gpu("MIG-7aaa", parent_key="GPU-3333")
NODE = DeviceInventory(
    driver="580.65",
    devices=(
        a_gpu("GPU-0000"),
        a_gpu("GPU-1111"),
        a_gpu("GPU-12cd"),
        a_gpu("GPU-3333", is_partitioned=True),
        INSTANCE,
        a_gpu("GPU-4444"),
        CPU,
    ),
)
OF_NONE = "CUDA_VISIBLE_DEVICES leaves none, or Slurm has given none"
MIRRORED = StrategySettings(kind=StrategyKind.MIRRORED)


@pytest.mark.parametrize(
    ("visible", "keys"),
    [
        ("0", ["GPU-0000"]),
        (" 2 , 0", ["GPU-12cd", "GPU-0000"]),
        # Instances have no number.
        ("4", ["GPU-4444"]),
        ("GPU-0,GPU-12", ["GPU-0000", "GPU-12cd"]),
        ("MIG-7aaa", ["MIG-7aaa"]),
        # CUDA hides what stands behind an entry that names none.
        ("1,7,0", ["GPU-1111"]),
        ("1,-1,0", ["GPU-1111"]),
        # And all of them where one is named twice, by whatever words.
        ("1,1,0", []),
        ("0,1,GPU-00", []),
        ("1,7,1", ["GPU-1111"]),
        ("GPU-0000,GPU-1", ["GPU-0000"]),
        ("", []),
        ("-1", []),
        ("NoDevFiles", []),
        ("GPU-9", []),
        ("²", []),
        ("9" * 5000, []),
    ],
)
def test_that_the_variable_is_read_as_cuda_reads_it(visible: str, keys: list[str]) -> None:
    assert [gpu.key for gpu in allocated_gpus(NODE, visible)] == keys


def test_that_every_gpu_is_meant_where_the_variable_is_not_set() -> None:
    assert allocated_gpus(NODE, None) == NODE.gpus


def test_that_a_profile_keeps_its_settings_by_the_place_of_the_gpu() -> None:
    profile = Profile(
        devices=DeviceSettings(
            visible=("GPU-a", "GPU-b"), described={"GPU-a": DeviceDescription(name="RTX 4090")}
        ),
        memory={
            "default": GrowingMemory(),
            "GPU-b": LimitedMemory(limit_mib=4096),
            "GPU-elsewhere": LimitedMemory(limit_mib=1),
        },
        strategy=StrategySettings(kind=StrategyKind.MIRRORED, shares=(48, 16)),
    )
    moved, hints = on_allocated(profile, NODE, "2,0")
    assert moved.devices.visible == ("GPU-12cd", "GPU-0000")
    assert moved.devices.described == {}
    assert moved.memory == {"default": GrowingMemory(), "GPU-0000": LimitedMemory(limit_mib=4096)}
    assert moved.strategy == profile.strategy
    assert hints == ()


def test_that_one_device_takes_the_first_and_all_others_take_every_gpu() -> None:
    named = DeviceSettings(visible=("GPU-a",))
    one, hints = on_allocated(Profile(devices=named), NODE, "1,0")
    assert (one.devices.visible, hints) == (("GPU-1111",), ())
    all_of_them, (hint,) = on_allocated(Profile(devices=named, strategy=MIRRORED), NODE, "1,0")
    assert all_of_them.devices.visible == ("GPU-1111", "GPU-0000")
    assert "names 1 GPU, and the run has 2" in hint.message


def test_that_shares_for_other_replicas_become_equal_and_that_it_is_said() -> None:
    profile = Profile(
        devices=DeviceSettings(visible=("GPU-a", "GPU-b")),
        strategy=StrategySettings(kind=StrategyKind.MIRRORED, shares=(48, 16)),
    )
    moved, (number, shares) = on_allocated(profile, NODE, "0")
    assert moved.strategy.shares == "equal"
    assert "names 2 GPUs, and the run has 1" in number.message
    assert "shares for 2 replicas, and there is 1 here" in shares.message
    assert not number.is_error
    assert not shares.is_error


def test_that_quotas_for_other_replicas_follow_the_memory_and_that_it_is_said() -> None:
    profile = Profile(
        devices=DeviceSettings(visible=("GPU-a", "GPU-b")),
        strategy=StrategySettings(kind=StrategyKind.MIRRORED, optimizer_state=(3, 1)),
    )
    as_named, none = on_allocated(profile, NODE, "0,1")
    assert (as_named.strategy.optimizer_state, none) == ((3, 1), ())
    moved, (_, quotas) = on_allocated(profile, NODE, "0")
    assert (moved.strategy.optimizer_state, moved.strategy.shares) == ("sharded", "equal")
    assert quotas.message.endswith("here: the optimizer's state is divided by free memory.")
    assert not quotas.is_error


def test_that_a_split_gpu_has_as_many_shares_as_logical_devices() -> None:
    profile = Profile(
        devices=DeviceSettings(visible=("GPU-a",)),
        memory={"GPU-a": SplitMemory(split_mib=(2048, 2048))},
        strategy=StrategySettings(kind=StrategyKind.MIRRORED, shares=(48, 16)),
    )
    moved, hints = on_allocated(profile, NODE, "1")
    assert moved.memory == {"GPU-1111": SplitMemory(split_mib=(2048, 2048))}
    assert (moved.strategy.shares, hints) == ((48, 16), ())


def test_that_a_profile_that_names_none_takes_what_was_given() -> None:
    profile = Profile(strategy=MIRRORED, memory={"GPU-1111": LimitedMemory(limit_mib=1024)})
    moved, hints = on_allocated(profile, NODE, "1,0")
    assert moved.devices.visible == ("GPU-1111", "GPU-0000")
    assert moved.memory == profile.memory
    assert hints == ()


def test_that_a_profile_that_names_none_does_not_take_gpus_of_other_jobs() -> None:
    moved, hints = on_allocated(Profile(), NODE, "")
    assert (moved.devices.visible, hints) == (("cpu",), ())


def test_that_a_profile_for_the_cpu_stays_as_it_is() -> None:
    profile = Profile(devices=DeviceSettings(visible=("cpu",)))
    assert on_allocated(profile, NODE, "0") == (profile, ())


@pytest.mark.parametrize(
    ("inventory", "visible", "detail"),
    [
        (NODE, "", f"{OF_NONE}, and the driver lists 5 GPUs."),
        (NODE, "9\x1b", r'CUDA_VISIBLE_DEVICES is "9\x1b", and the driver lists 5 GPUs.'),
        (CPU_ONLY, None, "CUDA_VISIBLE_DEVICES is not set, and the driver lists 0 GPUs."),
        (
            CPU_ONLY.model_copy(update={"problem": "The driver does not answer."}),
            "0",
            'CUDA_VISIBLE_DEVICES is "0", and the driver lists 0 GPUs. The driver does not answer.',
        ),
        (
            DeviceInventory(devices=(a_gpu("GPU-0000"), CPU)),
            "-1",
            'CUDA_VISIBLE_DEVICES is "-1", and the driver lists 1 GPU.',
        ),
    ],
)
def test_that_a_job_without_gpus_does_not_train_on_the_cpu_for_a_week(
    inventory: DeviceInventory, visible: str | None, detail: str
) -> None:
    profile = Profile(devices=DeviceSettings(visible=("GPU-a",)))
    with pytest.raises(ProblemError) as refused:
        on_allocated(profile, inventory, visible)
    (problem,) = refused.value.problems
    assert problem.code == "gpus_not_allocated"
    assert "1 GPU, and" in problem.message
    assert "--gres=gpu:1" in problem.hint
    assert problem.detail == detail


def test_that_the_number_of_gpus_that_were_not_given_is_said() -> None:
    profile = Profile(devices=DeviceSettings(visible=("GPU-a", "GPU-b")))
    with pytest.raises(ProblemError, match="2 GPUs"):
        on_allocated(profile, CPU_ONLY, None)


@pytest.mark.parametrize(
    ("environment", "visible"),
    [
        ({}, None),
        ({"CUDA_VISIBLE_DEVICES": "1"}, "1"),
        ({"CUDA_VISIBLE_DEVICES": ""}, ""),
        # As Slurm 22.05 leaves a job that asked for no GPU.
        ({"SLURM_JOB_ID": "7"}, ""),
        ({"SLURM_JOB_ID": "7", "CUDA_VISIBLE_DEVICES": "1"}, "1"),
        # A cluster whose Slurm does not set the variable, where the system hides the other GPUs.
        ({"SLURM_JOB_ID": "7", "SLURM_GPUS_ON_NODE": "2"}, None),
    ],
)
def test_that_a_job_of_slurm_that_asked_for_no_gpu_has_none(
    environment: dict[str, str], visible: str | None
) -> None:
    assert cuda_variables_of(environment).visible_devices == visible
