"""The calls that a person may copy are Python, and say what the plan says."""

import ast
from typing import Any

import pytest

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.memory import GrowingMemory, LimitedMemory, SplitMemory
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.script import ScriptSettings
from gpupanel.domain.strategy import AllReduce, StrategyKind, StrategySettings
from gpupanel.planning.prepare import prepare
from gpupanel.planning.tensorflow_calls import tensorflow_calls
from tests.fakes.devices import CPU_ONLY, RTX_4090, TWO_UNEQUAL


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


def test_that_products_keep_their_order_on_one_cpu_device_alone() -> None:
    one_replica = StrategySettings(kind=StrategyKind.MIRRORED)
    for profile in (Profile(), Profile(strategy=one_replica)):
        assert '{"arithmetic_optimization": False}' in calls(profile, CPU_ONLY)
    for kind in StrategyKind:
        if kind is not StrategyKind.ONE_DEVICE:
            assert "arithmetic" not in cpu_calls(kind)
    assert "arithmetic" not in calls(Profile())  # a GPU


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


def cpu_calls(kind: StrategyKind, **strategy: Any) -> str:
    devices = DeviceSettings(cpu_replicas=2)
    return calls(
        Profile(devices=devices, strategy=StrategySettings(kind=kind, **strategy)), CPU_ONLY
    )


def test_that_central_storage_keeps_weights_in_host_memory() -> None:
    text = cpu_calls(StrategyKind.CENTRAL_STORAGE)
    assert 'compute_devices=["/device:CPU:0", "/device:CPU:1"]' in text
    assert 'parameter_device="/device:CPU:0"' in text


def test_that_each_worker_gets_its_gpu_and_its_task() -> None:
    memory = {"GPU-3060": LimitedMemory(limit_mib=1024), "GPU-4090": GrowingMemory()}
    strategy = StrategySettings(kind=StrategyKind.MULTI_WORKER, all_reduce=AllReduce.NCCL)
    text = calls(Profile(memory=memory, strategy=strategy))
    variables: dict[str, Any] = {}
    exec(text.split("os.environ.update")[0], variables)
    visible = [each["CUDA_VISIBLE_DEVICES"] for each in variables["VARIABLES"]]
    assert visible == ["GPU-4090", "GPU-3060"]
    assert variables["TASKS"] == [{"type": "worker", "index": 0}, {"type": "worker", "index": 1}]
    assert len(set(variables["CLUSTER"]["worker"])) == 2
    assert "if PROCESS == 1:\n    tf.config.set_logical_device_configuration(gpus[0]" in text
    assert "CommunicationImplementation.NCCL" in text


def test_that_workers_without_a_choice_sum_as_tensorflow_likes() -> None:
    text = cpu_calls(StrategyKind.MULTI_WORKER)
    assert "MultiWorkerMirroredStrategy()" in text
    assert "if PROCESS" not in text


def test_that_a_parameter_server_cluster_names_every_task() -> None:
    text = cpu_calls(StrategyKind.PARAMETER_SERVER, workers=2)
    variables: dict[str, Any] = {}
    exec(text.split("os.environ.update")[0], variables)
    assert list(variables["CLUSTER"]) == ["chief", "worker", "ps"]
    addresses = [each for task in variables["CLUSTER"].values() for each in task]
    assert len(set(addresses)) == 4
    assert all(address.startswith("127.0.0.1:") for address in addresses)
    assert "ParameterServerStrategy(resolver)" in text


def test_that_a_server_of_a_worker_is_given_its_memory() -> None:
    """What ``tf.config`` is told a server does not know."""
    memory = {"GPU-3060": SplitMemory(split_mib=(1024, 2048)), "GPU-4090": GrowingMemory()}
    strategy = StrategySettings(kind=StrategyKind.PARAMETER_SERVER)
    text = calls(Profile(memory=memory, strategy=strategy))
    assert "set_memory_growth" not in text
    assert "set_logical_device_configuration" not in text
    configured = text.partition("server_configuration = ")[2].partition("\n\n")[0]
    options = "    server_configuration.gpu_options."
    assert configured.splitlines()[1:] == [
        "if PROCESS == 1:",
        f'{options}visible_device_list = "0"  # RTX 4090',
        f"{options}allow_growth = True",
        "if PROCESS == 2:",
        f'{options}visible_device_list = "0"  # RTX 3060',
        f"{options}experimental.virtual_devices.add(memory_limit_mb=[1024])",
    ]
    assert "config=server_configuration" in text
    assert "PROCESS == 0" not in cpu_calls(StrategyKind.PARAMETER_SERVER)


def test_that_the_places_of_layers_are_named() -> None:
    text = cpu_calls(StrategyKind.MODEL_PARALLEL)
    assert 'PLACES = ["/device:CPU:0", "/device:CPU:1"]' in text


def test_that_replicas_of_the_cpu_sum_plainly_as_in_a_run() -> None:
    text = cpu_calls(StrategyKind.MIRRORED)
    assert "cross_device_ops=tf.distribute.ReductionToOneDevice()" in text
    chosen = cpu_calls(StrategyKind.MIRRORED, all_reduce=AllReduce.HIERARCHICAL_COPY)
    assert "cross_device_ops=tf.distribute.HierarchicalCopyAllReduce()" in chosen


def test_that_the_name_of_a_device_stays_within_its_comment() -> None:
    odd = RTX_4090.model_copy(update={"name": "a card\nimport os  # \x00"})
    inventory = DeviceInventory(devices=(odd,))
    text = calls(Profile(), inventory)
    assert [line for line in text.splitlines() if "card" in line] == [
        r"tf.config.experimental.set_memory_growth(gpus[0], True)  # a card\nimport os  # \x00"
    ]


@pytest.mark.parametrize(
    ("kind", "strategy"),
    [
        (StrategyKind.ONE_DEVICE, ""),
        (
            StrategyKind.MIRRORED,
            (
                'strategy = tf.distribute.MirroredStrategy(["/device:CPU:0", "/device:CPU:1"])\n'
                "tf.distribute.experimental_set_strategy(strategy)\n"
            ),
        ),
    ],
)
def test_that_a_program_of_ones_own_is_given_devices_and_no_loop(
    kind: StrategyKind, strategy: str
) -> None:
    count = 1 if kind is StrategyKind.ONE_DEVICE else 2
    profile = Profile(
        task="script",
        script=ScriptSettings(path="train.py"),
        devices=DeviceSettings(visible=("cpu",), cpu_replicas=count),
        strategy=StrategySettings(kind=kind),
    )
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    text = tensorflow_calls(plan, of_program=True)
    ast.parse(text)
    assert text.endswith(strategy)
    assert ("Strategy" in text) == bool(strategy)
    assert "arithmetic_optimization" not in text
