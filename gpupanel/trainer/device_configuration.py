"""Carries out a plan's device configuration, to the letter.

Order matters: all of it happens after TensorFlow's import and before anything initialises the
devices; after that nothing can be configured.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import tensorflow as tf

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.event_details import LogicalDeviceAnswer
from gpupanel.domain.plan import LaunchPlan, PlannedDevice
from gpupanel.domain.problem import Problem, ProblemError


def configure_devices(
    plan: LaunchPlan, place: int = 0, connect: Callable[[], object] | None = None
) -> tuple[LogicalDeviceAnswer, ...]:
    """Make devices visible, set growth and limits, split, and initialise.

    Args:
        plan: What to configure.
        place: Of this process in the plan's gang: it configures its own devices.
        connect: Called when everything is set and nothing is initialised yet, the only moment at
            which a process can join a cluster.

    Returns:
        The logical devices as TensorFlow lists them afterwards.

    Raises:
        ProblemError: TensorFlow does not see a planned device, or refuses a setting.
    """
    devices = plan.gang[place].devices
    physical = {kind: tf.config.list_physical_devices(kind.name) for kind in DeviceKind}
    for device in devices:
        _check_is_seen(device, len(physical[device.kind]))
    _show_planned_gpus(devices, physical[DeviceKind.GPU])
    with _refusals_told():
        for device in devices:
            _configure(device, physical[device.kind][device.index])
    if connect is not None:
        connect()
    with _refusals_told():
        answers = _logical_devices(devices, place)
    _check_replicas(
        [replica.logical_device for replica in plan.replicas if replica.process == place],
        {answer.name for answer in answers},
    )
    return answers


@contextmanager
def _refusals_told() -> Iterator[None]:
    try:
        yield
    except (RuntimeError, ValueError, tf.errors.OpError) as error:
        raise ProblemError(
            Problem(
                code="devices_not_configured",
                field="devices",
                message="TensorFlow refused the device configuration: "
                f"{str(error).splitlines()[0]}",
                hint="Choose other memory settings, or growth on every GPU.",
                detail=f"{type(error).__name__}: {error}",
            )
        ) from error


def _check_is_seen(device: PlannedDevice, seen: int) -> None:
    if device.index < seen:
        return
    what = "no GPU" if seen == 0 else f"only {seen} of the planned GPUs"
    raise ProblemError(
        Problem(
            code="device_not_seen_by_tensorflow",
            field="devices.visible",
            message=f"TensorFlow sees {what}, so {device.name} cannot be used.",
            hint='Run "gpupanel doctor": it tells whether the driver or a CUDA library is missing.',
            detail=f"planned: {device.key}, index {device.index}",
        )
    )


def _show_planned_gpus(
    devices: Sequence[PlannedDevice], gpus: list[tf.config.PhysicalDevice]
) -> None:
    planned = [device.index for device in devices if device.kind is DeviceKind.GPU]
    if len(planned) < len(gpus):
        # With the CPUs in the list it is never empty: an empty one breaks TensorFlow's context.
        shown = [gpus[index] for index in planned]
        tf.config.set_visible_devices([*tf.config.list_physical_devices("CPU"), *shown])


def _configure(device: PlannedDevice, physical: tf.config.PhysicalDevice) -> None:
    if device.memory_growth:
        tf.config.experimental.set_memory_growth(physical, True)  # noqa: FBT003 - TensorFlow's
    if device.logical_limits_mib:
        logical = [
            tf.config.LogicalDeviceConfiguration(memory_limit=limit)
            for limit in device.logical_limits_mib
        ]
        tf.config.set_logical_device_configuration(physical, logical)


def _logical_devices(
    devices: Sequence[PlannedDevice], place: int
) -> tuple[LogicalDeviceAnswer, ...]:
    """What TensorFlow made, physical device by physical device; initialises them."""
    answers = []
    for kind in DeviceKind:
        owners = [
            (device.key, limit)
            for device in sorted(devices, key=lambda device: device.index)
            if device.kind is kind
            for limit in device.logical_limits_mib or (None,)
        ]
        specs = [
            tf.DeviceSpec.from_string(logical.name)
            for logical in tf.config.list_logical_devices(kind.name)
        ]
        # In a cluster those of the other workers are listed, too.
        names = [
            f"/device:{spec.device_type}:{spec.device_index}"
            for spec in specs
            if spec.task in (None, place)
        ]
        # The host's CPU is there even when the plan does not use it.
        owners += [(kind.value, None)] * (len(names) - len(owners))
        answers += [
            LogicalDeviceAnswer(name=name, device_key=key, memory_limit_mib=limit)
            for name, (key, limit) in zip(names, owners, strict=True)
        ]
    return tuple(answers)


def _check_replicas(planned: Sequence[str], names: set[str]) -> None:
    # MirroredStrategy on a device that is not there hangs without a word.
    missing = [name for name in planned if name not in names]
    if missing:
        raise ProblemError(
            Problem(
                code="logical_device_missing",
                field="devices",
                message=f"TensorFlow did not make {', '.join(missing)}; it has "
                f"{', '.join(sorted(names))}.",
                hint="Start the profile again, so that the plan is made anew for this machine.",
            )
        )
