"""A plan and its problems in sentences."""

from collections.abc import Sequence

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.memory import Allocator
from gpupanel.domain.plan import LaunchPlan, PlannedDevice, ProcessRole
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.strategy import StrategyKind
from gpupanel.domain.task import Task
from gpupanel.domain.visible_text import visible_line
from gpupanel.planning.prepare import Preparation
from gpupanel.runs.history.past_speed import PastSpeed
from gpupanel.runs.machine_settings import WorkHours, hours_sentence
from gpupanel.ui import formatting

_DOING = {
    "train": ("trains on", "train on", "a step"),
    "evaluate": ("evaluates", "evaluate", "a call"),
    "predict": ("predicts for", "predict for", "a call"),
}
"""What one replica does, what several do, and at a time."""
_FORCED_GROWTH = "TF_FORCE_GPU_ALLOW_GROWTH"
_ALLOCATOR = "TF_GPU_ALLOCATOR"
CUDA_CONTEXT_LESSON = (
    "A limit does not include the CUDA context, some 300 to 500 MiB more. Without a limit "
    "TensorFlow leaves some memory to others. It frees memory only when its process ends."
)


def summary(
    preparation: Preparation,
    labels: Sequence[str],
    task: Task = "train",
    *,
    checking: bool = False,
    reading: bool = False,
) -> str:
    """The one sentence over everything else.

    Args:
        preparation: What would happen.
        labels: Short names of the plan's devices, in its order.
        task: What the run is to do.
        checking: Whether TensorFlow can use the GPUs is not known yet.
        reading: Neither is what the data is.
    """
    errors, warnings = (
        _count(preparation.problems, severity) for severity in (Severity.ERROR, Severity.WARNING)
    )
    if errors or preparation.plan is None:
        return f"Not ready: {_counted(errors, 'problem')} to fix."
    word = "Checking the GPUs" if checking else "Ready"
    word = "Reading the data" if reading else word
    ready = f"{word}: {_division(preparation.plan, labels, task)}."
    return f"{ready} {_counted(warnings, 'warning')} below." if warnings else ready


def epochs(
    preview: DataPreview | None,
    plan: LaunchPlan | None,
    count: int,
    folder: str = "",
    speed: PastSpeed | None = None,
) -> str:
    """How long a training is, in examples, steps and time, and where its model is saved.

    Empty where that is not known.

    Args:
        preview: Of the data.
        plan: How a global batch is divided.
        count: How many epochs there are at most.
        folder: In which runs get folders; empty: not known.
        speed: Of the same training before; ``None``: not known.
    """
    if preview is None or plan is None or not preview.trained_count or not count:
        return ""
    steps = -(-preview.trained_count // plan.global_batch_size)
    number = formatting.count
    held = preview.held_out_count
    validating = f", validates on {number(held)}" if held else ""
    in_all = f", {number(steps * count)} in all" if count > 1 else ""
    saved = f" The model is saved in a new folder of {visible_line(folder)}." if folder else ""
    takes = _takes(preview.trained_count * count, speed)
    return (
        f"Trains on {_counted(preview.trained_count, 'example')}{validating}: "
        f"{_counted(steps, 'step')} an epoch{in_all}.{takes}{saved}"
    )


def _takes(examples: int, speed: PastSpeed | None) -> str:
    if speed is None:
        return ""
    time = formatting.duration(speed.seconds(examples))
    as_before = f"{formatting.rate(speed.examples_per_second)} of {visible_line(speed.run)}"
    if speed.around_s is None:
        return (
            f" Its steps take about {time}, at the {as_before}; start and validation come on top."
        )
    return f" The run takes about {time}, start, validation and saving included, as {as_before}."


def hours(work: WorkHours, task: Task, now_s: float, takes_s: float | None = None) -> str:
    """What its hours mean for a run that is started now; empty: nothing.

    Args:
        work: Its hours.
        task: What it does.
        now_s: The present moment, seconds since the epoch (UTC).
        takes_s: How long it takes by an estimate; ``None``: there is none.
    """
    asks = "" if work.opens_s(now_s) is None else "Start asks whether it is to wait for them."
    return f"{hours_sentence(work, task, now_s, takes_s)} {asks}".strip()


def memory(device: PlannedDevice, plan: LaunchPlan, total_mib: int | None) -> str:
    """How much of a device's memory TensorFlow may take, and when."""
    limits = device.logical_limits_mib
    total = f" of its {formatting.mib(total_mib)}" if total_mib else ""
    if device.kind is DeviceKind.CPU:
        return _host_memory(len(limits))
    grows = device.memory_growth or _has(device, plan, _FORCED_GROWTH, "true")
    # CUDA's own allocator takes nothing before it is needed.
    grows = grows or _has(device, plan, _ALLOCATOR, Allocator.CUDA_MALLOC_ASYNC.value)
    if not limits:
        if device.available_mib is None:
            return "grows as needed" if grows else "nearly all, at start"
        most = f"{formatting.mib(device.available_mib)}{total}"
        return f"grows as needed, up to {most}" if grows else f"takes {most} at start"
    sizes = " + ".join(formatting.mib(limit) for limit in limits)
    if len(limits) > 1:
        growing = "grow up to " if grows else ""
        return f"split into {len(limits)} logical devices: {growing}{sizes}{total}"
    available = device.available_mib
    if available is not None and available < (limits[0] or 0):
        return f"up to {formatting.mib(available)}{total}, less than its limit of {sizes}"
    return f"up to {sizes}{total}" if grows else f"takes {sizes}{total} at start"


def _host_memory(logical_count: int) -> str:
    if logical_count > 1:
        return f"host memory, shared by {logical_count} logical devices; no limit"
    return "host memory; no limit"


def _has(device: PlannedDevice, plan: LaunchPlan, variable: str, value: str) -> bool:
    """Whether the environment of a process that sees the device has the variable so."""
    return value in (
        process.environment.get(variable, plan.environment.get(variable))
        for process in plan.gang
        if device in process.devices
    )


def _division(plan: LaunchPlan, labels: Sequence[str], task: Task) -> str:
    where = " and ".join(dict.fromkeys(labels)) if len(labels) < 3 else f"{len(labels)} devices"
    if task == "script":
        copies = plan.strategy is StrategyKind.MIRRORED and len(plan.replicas) > 1
        in_fit = ", with a copy of the model on each where it calls fit" if copies else ""
        return f"the program runs on {where}{in_fit}"
    size = f"{formatting.count(plan.global_batch_size)} examples"
    if plan.strategy is StrategyKind.PARAMETER_SERVER:
        workers = _counted(len(plan.replicas), "worker")
        servers = sum(each.role is ProcessRole.PARAMETER_SERVER for each in plan.gang)
        kept = f"{_counted(servers, 'parameter server')} " + ("keeps" if servers == 1 else "keep")
        return f"{workers} on {where} take batches of {size} in turn, {kept} the weights"
    if plan.stage_count > 1 and len(plan.replicas) > 1:
        who = f"{len(plan.replicas)} replicas of {plan.stage_count} devices each on {where}"
        return f"{who} share {size} per step{_split(plan)}"
    if len(plan.places) > 1:
        return f"{size} per step pass through the layers on {where}"
    one, several, of = _DOING[task]
    if len(plan.replicas) == 1:
        return f"{where} {one} {size} {of}"
    processes = f" in {len(plan.gang)} processes" if len(plan.gang) > 1 else ""
    who = f"{len(plan.replicas)} replicas{processes} on {where}"
    return f"{who} {several} {size} {of}{_split(plan)}"


def _split(plan: LaunchPlan) -> str:
    if plan.balanced:
        return ", with measured shares"
    shares = " + ".join(formatting.count(share) for share in plan.shares)
    return f", {shares}" if len(plan.replicas) <= 4 else ""


def _count(problems: Sequence[Problem], severity: Severity) -> int:
    return sum(problem.severity is severity for problem in problems)


def _counted(count: int, word: str) -> str:
    return f"{formatting.count(count)} {word}{'' if count == 1 else 's'}"
