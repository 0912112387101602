"""A trace in words: for tables, sentences and the terminal."""

from collections.abc import Mapping

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.number_text import count
from gpupanel.domain.plan import LaunchPlan, PlannedDevice
from gpupanel.domain.trace import TracedDevice, TracedOperation, TraceRecord

_GPU = "/device:GPU:"


def is_gpu(device: TracedDevice) -> bool:
    """Whether it is a GPU that was traced itself, not what the host did for one."""
    return device.name.startswith(_GPU)


def traced_device_text(device: TracedDevice, plan: LaunchPlan, process: int) -> str:
    """A device of a trace by its name: "NVIDIA GeForce RTX 4090", "CPU:1".

    Args:
        device: Of the trace.
        plan: Of the run.
        process: Whose trace it is: its place in the plan's gang.
    """
    gang = plan.gang
    planned = gang[process].devices if process < len(gang) else ()
    if is_gpu(device):
        return _gpu_text(device.name.removeprefix(_GPU), planned)
    if device.replica is None:
        return "CPU, beside the GPUs"
    replicas = [each for each in plan.without_idle_replicas().replicas if each.process == process]
    if len(replicas) < 2 or device.replica >= len(replicas):
        return "CPU"
    place = replicas[device.replica].logical_device
    name = place.removeprefix("/device:")
    return f"CPU, for {name}" if place.startswith(_GPU) else name


def _gpu_text(index: str, planned: tuple[PlannedDevice, ...]) -> str:
    gpus = {str(each.index): each.name for each in planned if each.kind is DeviceKind.GPU}
    name = gpus.get(index)
    if name is None:
        return f"GPU:{index}"
    return f"{name} (GPU:{index})" if list(gpus.values()).count(name) > 1 else name


def time_title(record: TraceRecord) -> str:
    """What :func:`time_text` gives."""
    return "ms" if record.steps is None else "ms a step"


def time_text(operation: TracedOperation, record: TraceRecord) -> str:
    """Milliseconds that an operation took of each step; in all where no steps are counted."""
    return f"{operation.seconds * 1000.0 / (record.steps or 1):,.3f}"


def share_text(operation: TracedOperation, device: TracedDevice) -> str:
    """An operation's share of the time of all operations of its device: "37 %"."""
    share = operation.seconds / device.seconds if device.seconds else 0.0
    return f"{100.0 * share:.0f} %" if share >= 0.1 else f"{100.0 * share:.1f} %"


def record_sentence(record: TraceRecord, processes: Mapping[int, str]) -> str:
    """What a trace holds, in one sentence.

    Args:
        record: Of the trace.
        processes: Names of the run's processes by their place; empty where there is one.
    """
    name = processes.get(record.process)
    of = f" of {name}" if name else ""
    if record.steps is None or record.first_step is None:
        return f"Traced {record.seconds:.2f} s{of}."
    first, last = record.first_step + 1, record.first_step + record.steps
    if record.steps == 1:
        return f"Traced step {count(first)}{of}, which took {record.seconds:.3f} s."
    steps = f"{count(record.steps)} steps{of}, {count(first)} to {count(last)}"
    return f"Traced {steps}, in {record.seconds:.2f} s."
