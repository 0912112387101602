"""The exact environment and ``tf.config`` calls of a plan, as a person may read and copy them."""

from gpupanel.domain.plan import LaunchPlan, PlannedDevice
from gpupanel.domain.strategy import AllReduce, StrategyKind

_CROSS_DEVICE_OPS = {
    AllReduce.NCCL: "NcclAllReduce",
    AllReduce.HIERARCHICAL_COPY: "HierarchicalCopyAllReduce",
    AllReduce.REDUCTION_TO_ONE_DEVICE: "ReductionToOneDevice",
}


def tensorflow_calls(plan: LaunchPlan) -> str:
    """Python that configures TensorFlow as the plan says, from the environment to the strategy."""
    lines = ["import os", ""]
    lines += [f'os.environ["{key}"] = "{value}"' for key, value in plan.environment.items()]
    lines += ["", "import tensorflow as tf", ""]
    for kind in dict.fromkeys(device.kind for device in plan.devices):
        name = kind.lower() + "s"
        lines.append(f'{name} = tf.config.list_physical_devices("{kind.upper()}")')
    for device in plan.devices:
        lines += _configuration(device)
    return "\n".join([*lines, "", _strategy(plan)]) + "\n"


def _configuration(device: PlannedDevice) -> list[str]:
    target = f"{device.kind.lower()}s[{device.index}]"
    lines = []
    if device.memory_growth:
        lines.append(f"tf.config.experimental.set_memory_growth({target}, True)  # {device.name}")
    if device.logical_limits_mib:
        lines.append(f"tf.config.set_logical_device_configuration({target}, [  # {device.name}")
        for limit in device.logical_limits_mib:
            argument = "" if limit is None else f"memory_limit={limit}"
            lines.append(f"    tf.config.LogicalDeviceConfiguration({argument}),")
        lines.append("])")
    return lines


def _strategy(plan: LaunchPlan) -> str:
    if plan.strategy is StrategyKind.ONE_DEVICE:
        return f'strategy = tf.distribute.OneDeviceStrategy("{plan.replicas[0].logical_device}")'
    names = ", ".join(f'"{replica.logical_device}"' for replica in plan.replicas)
    operations = _CROSS_DEVICE_OPS.get(plan.all_reduce)
    extra = f", cross_device_ops=tf.distribute.{operations}()" if operations else ""
    return f"strategy = tf.distribute.MirroredStrategy([{names}]{extra})"
