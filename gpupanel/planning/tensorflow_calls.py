"""The exact environment and ``tf.config`` calls of a plan, as a person may read and copy them."""

from json import dumps
from typing import assert_never

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.plan import LaunchPlan, PlannedDevice
from gpupanel.domain.strategy import AllReduce, StrategyKind

_CROSS_DEVICE_OPS = {
    AllReduce.NCCL: "NcclAllReduce",
    AllReduce.HIERARCHICAL_COPY: "HierarchicalCopyAllReduce",
    AllReduce.REDUCTION_TO_ONE_DEVICE: "ReductionToOneDevice",
}
_FIRST_PORT = 12345
_SERVER = "server_configuration"


def tensorflow_calls(plan: LaunchPlan, *, of_program: bool = False) -> str:
    """Python that configures TensorFlow as the plan says, from the environment to the strategy.

    Of several processes each runs it with its own ``PROCESS``; the ports are examples, since free
    ones are chosen when a run starts.

    Args:
        plan: With the replicas that work, see
            :meth:`~gpupanel.domain.plan.LaunchPlan.without_idle_replicas`.
        of_program: For a program of the person's own, which uses of the devices what it wants.
    """
    lines = _environment_of_gang(plan) if plan.processes else _environment(plan)
    lines += ["", "import tensorflow as tf", ""]
    if plan.strategy is StrategyKind.PARAMETER_SERVER:
        configuration = _server_configuration
        lines += [
            "# A server configures its devices by itself, and not as tf.config says.",
            f"{_SERVER} = tf.compat.v1.ConfigProto()",
        ]
    else:
        configuration = _configuration
        for kind in dict.fromkeys(device.kind for device in plan.devices):
            name = kind.lower() + "s"
            lines.append(f'{name} = tf.config.list_physical_devices("{kind.upper()}")')
    for place, process in enumerate(plan.gang):
        configured = [line for device in process.devices for line in configuration(device)]
        if plan.processes and configured:
            lines.append(f"if PROCESS == {place}:")
            configured = [f"    {line}" for line in configured]
        lines += configured
    if plan.is_one_cpu_device and not of_program:
        lines += [
            "# Products keep their order, which TensorFlow chooses by the names of operations.",
            'tf.config.optimizer.set_experimental_options({"arithmetic_optimization": False})',
        ]
    strategy = _strategy_of_fit(plan) if of_program else _strategy(plan)
    return "\n".join([*lines, *([""] if strategy else []), *strategy]) + "\n"


def _environment(plan: LaunchPlan) -> list[str]:
    variables = plan.environment.items()
    assigned = (f"os.environ[{dumps(key)}] = {dumps(value)}" for key, value in variables)
    return ["import os", "", *assigned]


def _environment_of_gang(plan: LaunchPlan) -> list[str]:
    lines = ["import json", "import os", "", f"PROCESS = 0  # of {len(plan.gang)}", "VARIABLES = ["]
    lines += [f"    {dumps(process.environment)},  # {process.name}" for process in plan.gang]
    lines += ["]", "TASKS = ["]
    for process in plan.gang:
        lines.append(f'    {{"type": "{process.task_type}", "index": {process.index}}},')
    lines += ["]", "CLUSTER = {"]
    port = _FIRST_PORT
    for task_type in dict.fromkeys(process.task_type for process in plan.gang):
        count = sum(process.task_type == task_type for process in plan.gang)
        addresses = ", ".join(f'"127.0.0.1:{port + index}"' for index in range(count))
        lines.append(f'    "{task_type}": [{addresses}],')
        port += count
    return [
        *lines,
        "}",
        "os.environ.update(VARIABLES[PROCESS])",
        'os.environ["TF_CONFIG"] = json.dumps({"cluster": CLUSTER, "task": TASKS[PROCESS]})',
    ]


def _configuration(device: PlannedDevice) -> list[str]:
    target = f"{device.kind.lower()}s[{device.index}]"
    name = _written(device.name)
    lines = []
    if device.memory_growth:
        lines.append(f"tf.config.experimental.set_memory_growth({target}, True)  # {name}")
    if device.logical_limits_mib:
        lines.append(f"tf.config.set_logical_device_configuration({target}, [  # {name}")
        for limit in device.logical_limits_mib:
            argument = "" if limit is None else f"memory_limit={limit}"
            lines.append(f"    tf.config.LogicalDeviceConfiguration({argument}),")
        lines.append("])")
    return lines


def _server_configuration(device: PlannedDevice) -> list[str]:
    """Of a worker, which has one device and one replica: of a split GPU it takes the first part."""
    if device.kind is DeviceKind.CPU:
        return []
    options = f"{_SERVER}.gpu_options"
    lines = [f'{options}.visible_device_list = "{device.index}"  # {_written(device.name)}']
    if device.memory_growth:
        lines.append(f"{options}.allow_growth = True")
    if device.logical_limits_mib:
        limit = device.logical_limits_mib[0]
        lines.append(f"{options}.experimental.virtual_devices.add(memory_limit_mb=[{limit}])")
    return lines


def _written(name: str) -> str:
    """Whatever stands in a name, it stays within its comment."""
    return repr(name)[1:-1]


def _strategy(plan: LaunchPlan) -> list[str]:
    names = [dumps(replica.logical_device) for replica in plan.replicas]
    match plan.strategy:
        case StrategyKind.ONE_DEVICE:
            return [f"strategy = tf.distribute.OneDeviceStrategy({names[0]})"]
        case StrategyKind.MIRRORED:
            operations = _cross_device_ops(plan)
            extra = f", cross_device_ops=tf.distribute.{operations}()" if operations else ""
            return [f"strategy = tf.distribute.MirroredStrategy([{', '.join(names)}]{extra})"]
        case StrategyKind.CENTRAL_STORAGE:
            return [
                "strategy = tf.distribute.experimental.CentralStorageStrategy(",
                f'    compute_devices=[{", ".join(names)}], parameter_device="/device:CPU:0"',
                ")",
            ]
        case StrategyKind.MULTI_WORKER:
            return _multi_worker(plan)
        case StrategyKind.PARAMETER_SERVER:
            return [
                "resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()",
                'if TASKS[PROCESS]["type"] == "chief":',
                "    strategy = tf.distribute.ParameterServerStrategy(resolver)",
                "else:",
                "    server = tf.distribute.Server(",
                "        resolver.cluster_spec(), resolver.task_type, resolver.task_id,",
                f'        protocol="grpc", config={_SERVER},',
                "    )",
                "    server.join()",
            ]
        case StrategyKind.MODEL_PARALLEL:
            return _layered(plan)
    assert_never(plan.strategy)


def _strategy_of_fit(plan: LaunchPlan) -> list[str]:
    """What a program's Keras finds where it is to have a copy of its models on each device."""
    if plan.strategy is not StrategyKind.MIRRORED:
        return []
    names = ", ".join(dumps(replica.logical_device) for replica in plan.replicas)
    return [
        f"strategy = tf.distribute.MirroredStrategy([{names}])",
        "tf.distribute.experimental_set_strategy(strategy)",
    ]


def _layered(plan: LaunchPlan) -> list[str]:
    names = [dumps(place.logical_device) for place in plan.places]
    if len(plan.replicas) == 1:
        return [
            f"PLACES = [{', '.join(names)}]  # each layer is built and called on one of them",
            "strategy = tf.distribute.get_strategy()",
        ]
    count = plan.stage_count
    stages = (f"    ({', '.join(names[stage::count])})," for stage in range(count))
    firsts = ", ".join(names[::count])
    return [
        "# Each layer is built and called on one of these in each replica.",
        "PLACES = [",
        *stages,
        "]",
        "strategy = tf.distribute.MirroredStrategy(",
        f"    [{firsts}],",
        "    cross_device_ops=tf.distribute.ReductionToOneDevice(),",
        ")",
    ]


def _cross_device_ops(plan: LaunchPlan) -> str | None:
    """How gradients are summed; ``None`` where TensorFlow chooses.

    It would choose a ring also where replicas share a GPU or the CPU; a plain sum is faster there.
    """
    owners = [replica.device_key for replica in plan.replicas]
    gpus = {device.key for device in plan.devices if device.kind is DeviceKind.GPU}
    one_gpu_each = len(gpus.intersection(owners)) == len(owners)
    if plan.all_reduce is AllReduce.AUTO or len(owners) == 1:
        return None if one_gpu_each else "ReductionToOneDevice"
    return _CROSS_DEVICE_OPS[plan.all_reduce]


def _multi_worker(plan: LaunchPlan) -> list[str]:
    options = ""
    if plan.all_reduce is AllReduce.NCCL:
        nccl = "tf.distribute.experimental.CommunicationImplementation.NCCL"
        options = (
            "\n    tf.distribute.experimental.CommunicationOptions(\n"
            f"        implementation={nccl}\n    )\n"
        )
    return [f"strategy = tf.distribute.MultiWorkerMirroredStrategy({options})"]
