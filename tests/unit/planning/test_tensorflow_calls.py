"""The calls that a person may copy are Python, and say what the plan says."""

import ast

import pytest

from gpupanel.domain.memory import LimitedMemory
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import AllReduce, StrategyKind, StrategySettings
from gpupanel.planning.prepare import prepare
from gpupanel.planning.tensorflow_calls import tensorflow_calls
from tests.fakes.devices import CPU_ONLY, TWO_UNEQUAL


def calls(profile: Profile, inventory=TWO_UNEQUAL) -> str:
    plan = prepare(profile, inventory).plan
    assert plan is not None
    text = tensorflow_calls(plan)
    ast.parse(text)
    return text


def test_that_growth_is_one_call_a_gpu() -> None:
    text = calls(Profile(strategy=StrategySettings(kind=StrategyKind.MIRRORED)))
    assert 'os.environ["CUDA_VISIBLE_DEVICES"] = "GPU-4090,GPU-3060"' in text
    assert "set_memory_growth(gpus[0], True)  # RTX 4090" in text
    assert "set_memory_growth(gpus[1], True)  # RTX 3060" in text
    assert 'MirroredStrategy(["/device:GPU:0", "/device:GPU:1"])' in text


def test_that_a_limit_is_a_logical_device_and_growth_an_environment_variable() -> None:
    memory = {"default": LimitedMemory(limit_mib=4096, growth=True)}
    text = calls(Profile(memory=memory, strategy=StrategySettings(kind=StrategyKind.MIRRORED)))
    assert "LogicalDeviceConfiguration(memory_limit=4096)" in text
    assert 'os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] = "true"' in text
    assert "set_memory_growth" not in text


def test_that_logical_cpus_have_no_limit() -> None:
    profile = Profile(
        devices=DeviceSettings(visible=("cpu",), cpu_replicas=2),
        strategy=StrategySettings(kind=StrategyKind.MIRRORED),
    )
    assert calls(profile, CPU_ONLY).count("LogicalDeviceConfiguration(),") == 2


def test_that_one_device_is_named() -> None:
    assert 'OneDeviceStrategy("/device:CPU:0")' in calls(Profile(), CPU_ONLY)


@pytest.mark.parametrize(
    ("all_reduce", "name"),
    [
        (AllReduce.NCCL, "NcclAllReduce"),
        (AllReduce.HIERARCHICAL_COPY, "HierarchicalCopyAllReduce"),
        (AllReduce.REDUCTION_TO_ONE_DEVICE, "ReductionToOneDevice"),
    ],
)
def test_that_the_chosen_all_reduce_is_named(all_reduce: AllReduce, name: str) -> None:
    strategy = StrategySettings(kind=StrategyKind.MIRRORED, all_reduce=all_reduce)
    assert f"cross_device_ops=tf.distribute.{name}()" in calls(Profile(strategy=strategy))
