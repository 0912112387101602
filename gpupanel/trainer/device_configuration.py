"""Carries out a plan's device configuration, to the letter.

Order matters: all of it happens after TensorFlow's import and before anything initialises the
devices; after that nothing can be configured.
"""

import platform
import time
from collections.abc import Callable, Sequence

import tensorflow as tf

from gpupanel import __version__
from gpupanel.domain.device import DeviceKind
from gpupanel.domain.event_details import LogicalDeviceAnswer
from gpupanel.domain.events import DevicesReady
from gpupanel.domain.pci import is_same_pci_device
from gpupanel.domain.plan import LaunchPlan, PlannedDevice
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.device_answers import check_as_planned, device_answers, is_bounded
from gpupanel.trainer.device_log import DeviceLog
from gpupanel.trainer.device_refusals import refusals_told
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.started_run import StartedRun


def configure_devices(
    plan: LaunchPlan,
    place: int = 0,
    connect: Callable[[], object] | None = None,
    log: DeviceLog | None = None,
) -> tuple[LogicalDeviceAnswer, ...]:
    """Make devices visible, set growth and limits, split, and initialise.

    Args:
        plan: What to configure.
        place: Of this process in the plan's gang: it configures its own devices.
        connect: Called when everything is set and nothing is initialised yet, the only moment at
            which a process can join a cluster.
        log: Of this process, where TensorFlow says what it makes.

    Returns:
        The logical devices as TensorFlow lists them afterwards.

    Raises:
        ProblemError: TensorFlow does not see a planned device, or refuses a setting.
    """
    devices = named_devices(plan, place)
    physical = seen_devices(devices, log)
    configure_graph_optimizer(is_one_cpu_device=plan.is_one_cpu_device)
    _show_planned_gpus(devices, physical[DeviceKind.GPU])
    with refusals_told(devices):
        for device in devices:
            _configure(device, physical[device.kind][device.index])
    if connect is not None:
        with refusals_told(devices, joins=True):
            connect()
    with refusals_told(devices):
        names = _logical_names(place)
    answers = device_answers(
        devices,
        names,
        {} if log is None else log.created(),
        is_bounded=is_bounded(plan, place),
    )
    _check_replicas(
        [replica.logical_device for replica in plan.replicas if replica.process == place],
        {answer.name for answer in answers},
    )
    return answers


def named_devices(plan: LaunchPlan, place: int) -> tuple[PlannedDevice, ...]:
    """The devices of a process, by names that equal ones cannot be taken for."""
    return tuple(
        device.model_copy(update={"name": plan.device_name(device.key)})
        for device in plan.gang[place].devices
    )


def seen_devices(
    devices: Sequence[PlannedDevice], log: DeviceLog | None = None
) -> dict[DeviceKind, list[tf.config.PhysicalDevice]]:
    """The physical devices of each kind that TensorFlow finds; initialises none.

    Args:
        devices: Those of this process.
        log: Of this process, where TensorFlow says what it leaves out.

    Raises:
        ProblemError: It leaves a planned one out, or does not see it.
    """
    physical = {kind: tf.config.list_physical_devices(kind.name) for kind in DeviceKind}
    _check_left_out(devices, log)
    for device in devices:
        _check_is_seen(device, len(physical[device.kind]))
    return physical


def configure_graph_optimizer(*, is_one_cpu_device: bool) -> None:
    """Have what works on one CPU device multiply in the order that its Python code says.

    TensorFlow's arithmetic optimizer orders products by the names of operations, which differ
    between a run and its exported script: the last bits of batch normalisation did. Without it
    steps of a CPU took 0.97 to 1.03 of the time (mlp, cnn and resnet, five interleaved rounds).
    """
    tf.config.optimizer.set_experimental_options({"arithmetic_optimization": not is_one_cpu_device})


def report_devices(
    run: StartedRun, answers: tuple[LogicalDeviceAnswer, ...], events: EventWriter
) -> None:
    """Report what TensorFlow answered to this process.

    Raises:
        ProblemError: It means another GPU than the plan; the answer is reported all the same.
    """
    events.write(
        DevicesReady(
            time_s=time.time(),
            process=run.place,
            tensorflow_version=tf.version.VERSION,
            python_version=platform.python_version(),
            gpupanel_version=__version__,
            logical_devices=answers,
        )
    )
    check_as_planned(answers, run.plan)


def _check_left_out(devices: Sequence[PlannedDevice], log: DeviceLog | None) -> None:
    """TensorFlow numbers what it keeps: a GPU left out would shift the others."""
    for ignored in log.ignored() if log is not None else ():
        for device in devices:
            if is_same_pci_device(device.pci_bus_id, ignored.pci_bus_id):
                raise ProblemError(_left_out(device, ignored.why))


def _left_out(device: PlannedDevice, why: str) -> Problem:
    return Problem(
        code="device_not_seen_by_tensorflow",
        field="devices.visible",
        message=f"TensorFlow leaves {device.name} out: it is a GPU {why}",
        hint="Switch it off here, or install a TensorFlow that was built for it.",
        detail=f"planned: {device.key}, index {device.index}, PCI bus {device.pci_bus_id}",
    )


def _check_is_seen(device: PlannedDevice, seen: int) -> None:
    if device.index < seen:
        return
    what = "no GPU" if seen == 0 else f"only {seen} of the planned GPUs"
    raise ProblemError(
        Problem(
            code="device_not_seen_by_tensorflow",
            field="devices.visible",
            message=f"TensorFlow sees {what}, so {device.name} cannot be used.",
            hint='Run the doctor (in the window, or "gpupanel doctor"): it names the driver or '
            "CUDA library that is missing.",
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


def _logical_names(place: int) -> dict[DeviceKind, tuple[str, ...]]:
    """What TensorFlow made in this process, kind by kind; initialises the devices."""
    names = {}
    for kind in DeviceKind:
        specs = [
            tf.DeviceSpec.from_string(logical.name)
            for logical in tf.config.list_logical_devices(kind.name)
        ]
        # In a cluster those of the other workers are listed, too.
        names[kind] = tuple(
            f"/device:{spec.device_type}:{spec.device_index}"
            for spec in specs
            if spec.task in (None, place)
        )
    return names


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
                hint="Start the profile again, so that a new plan is made for this machine.",
            )
        )
