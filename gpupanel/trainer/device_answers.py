"""TensorFlow's logical devices, each with the device that the plan means by it."""

from collections.abc import Iterator, Mapping, Sequence

from gpupanel.domain.device import CPU_KEY, DeviceKind
from gpupanel.domain.event_details import LogicalDeviceAnswer
from gpupanel.domain.memory import Allocator
from gpupanel.domain.pci import is_same_pci_device, short_bus_id
from gpupanel.domain.plan import LaunchPlan, PlannedDevice
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.device_log import CreatedDevice


def device_answers(
    devices: Sequence[PlannedDevice],
    names: Mapping[DeviceKind, Sequence[str]],
    created: Mapping[str, CreatedDevice],
    *,
    is_bounded: bool,
) -> tuple[LogicalDeviceAnswer, ...]:
    """Match what TensorFlow lists with what was planned.

    TensorFlow numbers the logical devices of a kind through, over its physical ones.

    Args:
        devices: What was configured.
        names: The logical devices of each kind in TensorFlow's order.
        created: What it said of them when it made them; what it did not say stays unknown.
        is_bounded: See :func:`is_bounded`.

    Raises:
        ProblemError: It made fewer than were planned.
    """
    answers = []
    for kind in DeviceKind:
        owners = [
            (device, limit, given)
            for device in sorted(devices, key=lambda device: device.index)
            if device.kind is kind
            for limit, given in _given(device)
        ]
        listed = names.get(kind, ())
        if len(listed) < len(owners):
            raise ProblemError(_missing(owners[len(listed)][0], listed))
        answers += [
            _answer(name, device, limit, given, created.get(name), is_bounded=is_bounded)
            for name, (device, limit, given) in zip(listed, owners, strict=False)
        ]
        if kind is DeviceKind.CPU:
            # The host's CPU is there even when the plan does not use it.
            rest = listed[len(owners) :]
            answers += [LogicalDeviceAnswer(name=name, device_key=CPU_KEY) for name in rest]
    return tuple(answers)


def is_bounded(plan: LaunchPlan, place: int) -> bool:
    """Whether the allocator of a process keeps to what TensorFlow says; CUDA's own does not."""
    environment = {**plan.environment, **plan.gang[place].environment}
    return environment.get("TF_GPU_ALLOCATOR") != Allocator.CUDA_MALLOC_ASYNC


def check_as_planned(answers: Sequence[LogicalDeviceAnswer], plan: LaunchPlan) -> None:
    """Make sure that TensorFlow means the GPUs that the plan means, as far as it says.

    Raises:
        ProblemError: It means another one.
    """
    others = [answer for answer in answers if answer.is_as_planned is False]
    if others:
        raise ProblemError(_is_another(others, plan))


def _given(device: PlannedDevice) -> Iterator[tuple[int | None, int | None]]:
    """The limit of each logical device, and how much of that the GPU can give."""
    left = device.available_mib
    for limit in device.logical_limits_mib or (None,):
        given = limit if limit is None or left is None else min(limit, left)
        yield limit, given
        left = None if left is None or given is None else left - given


def _answer(
    name: str,
    device: PlannedDevice,
    limit: int | None,
    given: int | None,
    said: CreatedDevice | None,
    *,
    is_bounded: bool,
) -> LogicalDeviceAnswer:
    # Of a limit TensorFlow repeats what was asked for, and does not ask whether it is there.
    taken = None if said is None else said.memory_mib
    if not is_bounded:
        taken = device.available_mib
    elif taken is not None and given is not None:
        taken = min(taken, given)
    bus = None if said is None else said.pci_bus_id
    return LogicalDeviceAnswer(
        name=name,
        device_key=device.key,
        memory_limit_mib=limit,
        memory_taken_mib=taken,
        pci_bus_id=bus,
        is_as_planned=is_same_pci_device(device.pci_bus_id, bus),
    )


def _missing(device: PlannedDevice, listed: Sequence[str]) -> Problem:
    return Problem(
        code="logical_device_missing",
        field="devices",
        message=f"TensorFlow made no logical device of {device.name}; it has "
        f"{', '.join(listed) or 'none'}.",
        hint="Start the profile again, so that a new plan is made for this machine.",
    )


def _is_another(others: Sequence[LogicalDeviceAnswer], plan: LaunchPlan) -> Problem:
    first = others[0]
    planned = next(device for device in plan.devices if device.key == first.device_key)
    name = plan.device_name(planned.key)
    found = next(
        (
            f"{plan.device_name(device.key)} ({_place(device.pci_bus_id)})"
            for device in plan.devices
            if is_same_pci_device(device.pci_bus_id, first.pci_bus_id)
        ),
        f"another GPU ({_place(first.pci_bus_id)})",
    )
    return Problem(
        code="device_is_another",
        field="devices.visible",
        message=f"TensorFlow means {found} by {first.name}, but the plan means {name} "
        f"({_place(planned.pci_bus_id)}).",
        hint="Start the profile again, so that a new plan is made; something changed the order of "
        'the GPUs, or CUDA_VISIBLE_DEVICES, after the plan was made. "gpupanel doctor" shows '
        "more.",
        detail="\n".join(f"{each.name}: {_place(each.pci_bus_id)}" for each in others),
    )


def _place(bus: str | None) -> str:
    return f"PCI bus {short_bus_id(bus or '')}"
