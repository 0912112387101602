"""What TensorFlow answered to a run's device configuration, in words."""

from collections.abc import Iterable, Mapping, Sequence

from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.event_details import LogicalDeviceAnswer
from gpupanel.domain.events import DevicesReady
from gpupanel.domain.number_text import memory_size


def is_of_gpu(answer: LogicalDeviceAnswer) -> bool:
    """Whether it is made of a GPU; else of the host's processor."""
    return answer.device_key != CPU_KEY


def reported_devices(answers: Sequence[LogicalDeviceAnswer]) -> tuple[LogicalDeviceAnswer, ...]:
    """The logical devices of one process without the CPU that is there beside its GPUs.

    TensorFlow lists the host's CPU in every process, whether a run calculates on it or not.
    """
    gpus = tuple(answer for answer in answers if is_of_gpu(answer))
    return gpus or tuple(answers)


def process_name(event: DevicesReady, names: Sequence[str]) -> str:
    """The name for people of the process that was answered; empty where it is the only one.

    Args:
        event: Its report.
        names: Of the run's processes, by their places, as far as they were started.
    """
    return names[event.process] if len(names) > max(1, event.process) else ""


def memory_line(answer: LogicalDeviceAnswer) -> str:
    """The limit that was set, and what TensorFlow takes."""
    if not is_of_gpu(answer):
        return "host memory, no limit"
    limit = answer.memory_limit_mib
    set_to = "no limit" if limit is None else f"limit {memory_size(limit)}"
    taken = answer.memory_taken_mib
    return f"{set_to}, takes {'–' if taken is None else f'up to {memory_size(taken)}'}"  # noqa: RUF001 - the dash of an unknown reading


def device_identity_text(answer: LogicalDeviceAnswer) -> str:
    """Whether it is the device that the plan means, and by what that is seen."""
    if not is_of_gpu(answer):
        return "this machine's CPU"
    bus = answer.pci_bus_id
    if bus is None:
        return "TensorFlow did not report which GPU it is"
    if answer.is_as_planned is None:
        return f"at PCI bus {bus}; the planned GPU's bus is not known"
    if answer.is_as_planned:
        return f"as planned, by its PCI bus {bus}"
    return f"another GPU than planned, at PCI bus {bus}"


def devices_summary(reports: Iterable[DevicesReady]) -> str:
    """All processes in one short sentence."""
    answers = [each for event in reports for each in reported_devices(event.logical_devices)]
    gpus = [answer for answer in answers if is_of_gpu(answer)]
    others = [answer for answer in gpus if answer.is_as_planned is False]
    count = len(gpus or answers)
    devices = "1 logical device" if count == 1 else f"{count} logical devices"
    if others:
        which = "The logical device" if count == 1 else f"{len(others)} of {devices}"
        return f"{which} {'is' if len(others) == 1 else 'are'} on another GPU than planned."
    if not gpus:
        return f"{devices} of the CPU."
    unknown = sum(answer.is_as_planned is None for answer in gpus)
    if unknown:
        if unknown == count:
            return f"{devices}; TensorFlow did not report which GPU."
        return f"{devices}, {count - unknown} on the planned GPU, {unknown} not known."
    return f"{devices}, {'on' if count == 1 else 'each on'} the planned GPU."


def line_text(event: DevicesReady, process: str, names: Mapping[str, str]) -> str:
    """One line about one process.

    Args:
        event: Its report.
        process: Its name; empty where a run has one process.
        names: Of the devices, by their keys; one that is not among them is named by its key.
    """
    devices = "; ".join(
        _device_text(answer, names) for answer in reported_devices(event.logical_devices)
    )
    where = f" in {process}" if process else ""
    return f"TensorFlow {event.tensorflow_version}{where}: {devices}."


def _device_text(answer: LogicalDeviceAnswer, names: Mapping[str, str]) -> str:
    device = f"{answer.name} for {names.get(answer.device_key, answer.device_key)}"
    if not is_of_gpu(answer):
        return device
    return f"{device}: {memory_line(answer)}, {device_identity_text(answer)}"
