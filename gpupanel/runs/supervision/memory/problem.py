"""A run that ran out of memory as a problem: whose memory, what was asked, who held it, what next.

The process reports what it was refused, or the kernel that it was killed; what other processes held
comes from the readings of the devices, and what to try next from the planning.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gpupanel.domain.device import CPU_KEY, DeviceInventory
from gpupanel.domain.event_details import ShortageCause
from gpupanel.domain.events import MemoryExhausted
from gpupanel.domain.number_text import memory_size
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.problem import Fix, Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.step_memory import StepMemory
from gpupanel.domain.telemetry import DeviceProcess, DeviceReading, TelemetrySample
from gpupanel.planning.out_of_memory import out_of_memory_fixes
from gpupanel.planning.shortage import Shortage
from gpupanel.runs.supervision.checked_run import inventory_of

_MIB = 2**20


@dataclass(frozen=True, slots=True)
class ShortageContext:
    """What was there when the memory was not enough.

    Attributes:
        inventory: The devices of the machine; ``None``: not known yet.
        sample: The last readings of while the run went on.
        other_processes_mib: What other processes held of the device.
        other_processes: Who they were.
        held_by_others_mib: What other processes held of each of the run's GPUs, by its key.
        in_step: Whether the run had begun with steps.
        step: What a step of it holds; ``None``: not known.
        preview: What is known of its data; ``None``: nothing.
    """

    inventory: DeviceInventory | None = None
    sample: TelemetrySample | None = None
    other_processes_mib: int | None = None
    other_processes: tuple[DeviceProcess, ...] = ()
    held_by_others_mib: Mapping[str, int | None] = field(default_factory=dict)
    in_step: bool = True
    step: StepMemory | None = None
    preview: DataPreview | None = None

    def of(self, shortage: MemoryExhausted) -> Shortage:
        """What planning has to know of it."""
        held, asked = shortage.held_bytes, shortage.asked_bytes
        return Shortage(
            device_key=shortage.device_key,
            logical_device=shortage.logical_device,
            needed_bytes=None if held is None or asked is None else held + asked,
            asked_bytes=asked,
            limit_bytes=shortage.limit_bytes,
            in_step=self.in_step,
            step=self.step,
            preview=self.preview,
        )

    def sample_without_run(self, key: str | None, inventory: DeviceInventory) -> TelemetrySample:
        """The readings, without what the run held of its GPUs; ``key`` is of the full one."""
        held = dict(self.held_by_others_mib)
        if key is not None:
            held[key] = self.other_processes_mib
        given = {} if self.sample is None else {each.key: each for each in self.sample.readings}
        for device_key, others_mib in held.items():
            device = inventory.device(device_key)
            if device is None or not device.is_gpu:
                continue
            before = given.get(device_key, DeviceReading(key=device_key))
            free_mib = None
            if device.memory_total_mib is not None and others_mib is not None:
                taken_mib = others_mib + (before.memory_reserved_mib or 0)
                free_mib = max(0, device.memory_total_mib - taken_mib)
            changes = {"memory_used_mib": others_mib, "memory_free_mib": free_mib}
            given[device_key] = before.model_copy(update=changes)
        time_s = 0.0 if self.sample is None else self.sample.time_s
        return TelemetrySample(time_s=time_s, readings=tuple(given.values()))


def shortage_problem(
    shortage: MemoryExhausted,
    process: str,
    profile: Profile,
    plan: LaunchPlan,
    context: ShortageContext,
    detail: str = "",
) -> Problem:
    """The problem for people, with what to try next.

    Args:
        shortage: What happened.
        process: Its name for people ("the trainer").
        profile: Of the run.
        plan: Of the run.
        context: What else held memory.
        detail: What the process reported, or the end of its log.
    """
    inventory = context.inventory or inventory_of(profile, plan)
    sample = context.sample_without_run(shortage.device_key, inventory)
    fixes = out_of_memory_fixes(profile, inventory, context.of(shortage), sample)
    killed = shortage.cause.is_kill
    message = (
        _killed(shortage, process, context) if killed else _refused(shortage, inventory, context)
    )
    holders = [
        f"{each.name or 'a process'} ({each.pid}): {_mib(each.memory_used_mib)}"
        for each in context.other_processes
    ]
    details = (f"Held by other processes: {', '.join(holders)}." if holders else "", detail)
    return Problem(
        code="host_out_of_memory" if killed else "out_of_memory",
        field="training.accumulation_steps" if profile.task == "train" else "inference.batch_size",
        message=message,
        hint=_hint(profile, fixes, _elsewhere(shortage, context)),
        detail="\n".join(part for part in details if part),
        fix=fixes[0] if fixes else None,
        alternatives=fixes[1:],
    )


def _refused(
    shortage: MemoryExhausted, inventory: DeviceInventory, context: ShortageContext
) -> str:
    device = None if shortage.device_key is None else inventory.device(shortage.device_key)
    where = "A device"
    if device is not None:
        where = inventory.name_of(device.key) if device.is_gpu else "The host's memory"
    ran = "ran out" if device is not None and not device.is_gpu else "ran out of memory"
    logical = f" ({shortage.logical_device})" if shortage.logical_device else ""
    asked = "more was asked for than there was"
    if shortage.asked_bytes is not None:
        asked = f"{_bytes(shortage.asked_bytes)} were asked for"
    if shortage.tensor_shape:
        shape = " x ".join(f"{size:,}" for size in shortage.tensor_shape)
        asked += f", for {shape} numbers of type {shortage.tensor_type}"
    clauses = [asked]
    if shortage.held_bytes is not None and shortage.limit_bytes is not None:
        clauses.append(
            f"the run held {_bytes(shortage.held_bytes)} of the {_bytes(shortage.limit_bytes)} "
            "that TensorFlow may take"
        )
    if context.other_processes_mib:
        total = None if device is None else device.memory_total_mib
        of = f" of its {_mib(total)}" if total is not None else ""
        clauses.append(f"other processes held {_mib(context.other_processes_mib)}{of}")
    return f"{where}{logical} {ran}: {'; '.join(clauses)}."


def _killed(shortage: MemoryExhausted, process: str, context: ShortageContext) -> str:
    held = None if shortage.held_bytes is None else _bytes(shortage.held_bytes)
    clauses = [] if held is None else [f"it held {held}"]
    limit = shortage.limit_bytes
    if shortage.cause is ShortageCause.GROUP_LIMIT and limit is not None:
        clauses.append(f"its control group may take {_bytes(limit)}")
    elif shortage.cause is ShortageCause.ADDRESS_SPACE and limit is not None:
        clauses.append(f"it may take {_bytes(limit)}")
    elif (rest := _rest_of_host(shortage, context)) is not None:
        clauses.append(rest)
    why = {
        ShortageCause.GROUP_LIMIT: "The kernel killed {} for taking more memory than it may",
        ShortageCause.MACHINE: "The kernel killed {}, because the machine had no memory left",
        ShortageCause.LIKELY: "{} was killed while the machine's memory was nearly full, most "
        "likely because of that",
        ShortageCause.ADDRESS_SPACE: "{} crashed with nearly all the address space taken that it "
        "may have (ulimit -v)",
    }[shortage.cause].format(process)
    cause = f"{why[:1].upper()}{why[1:]}"
    return f"{cause}: {' and '.join(clauses)}." if clauses else f"{cause}."


def _rest_of_host(shortage: MemoryExhausted, context: ShortageContext) -> str | None:
    reading = context.sample.reading(CPU_KEY) if context.sample is not None else None
    if reading is None or reading.memory_used_mib is None or shortage.held_bytes is None:
        return None
    rest = max(0, reading.memory_used_mib - shortage.held_bytes // _MIB)
    total = reading.memory_total_mib
    return f"other programs held {_mib(rest)}" + (f" of {_mib(total)}" if total else "")


def _elsewhere(shortage: MemoryExhausted, context: ShortageContext) -> str:
    """What helps outside the profile."""
    if shortage.cause is ShortageCause.ADDRESS_SPACE:
        # Other programs take nothing of a process's own.
        return "raise the limit (ulimit -v)"
    return (
        "end what else uses the device" if context.other_processes_mib else "close other programs"
    )


def _hint(profile: Profile, fixes: tuple[Fix, ...], elsewhere: str) -> str:
    if not fixes:
        return f"Use a smaller model, or {elsewhere}."
    fewer = any(change.path[-1] == "accumulation_steps" for change in fixes[0].changes)
    if fewer and not profile.normalises_batches:
        is_half = fixes[0].label.startswith("Double")
        less = "Half the examples at a time is" if is_half else "Fewer examples at a time are"
        return f"{less} the same training with less memory. Or {elsewhere}."
    return f'Try "{fixes[0].label}", another of these changes, or {elsewhere}.'


def _bytes(size: int) -> str:
    return memory_size(max(1, size // _MIB))


def _mib(size: int | None) -> str:
    return "an unknown part" if size is None else memory_size(size)
