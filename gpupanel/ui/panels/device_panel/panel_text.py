"""What the device panel says, and on which card."""

from collections.abc import Sequence

from gpupanel.devices.device_text import link_between
from gpupanel.domain.device import DeviceInventory, PhysicalDevice
from gpupanel.domain.memory import LimitedMemory, MemoryPolicy, SplitMemory, allowed_mib
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.visible_text import visible_line
from gpupanel.ui import formatting
from gpupanel.ui.workers.workplace import workplace


def labels(inventory: DeviceInventory) -> tuple[str, ...]:
    """A short name for each device; that of a MIG instance leaves out its GPU's, above it."""
    short = formatting.labels_of(inventory.devices, with_node=False)
    by_key = {device.key: device for device in inventory.devices}
    named = []
    for device, label in zip(inventory.devices, short, strict=True):
        parent = by_key.get(device.parent_key) if device.parent_key else None
        whole = formatting.short_device_name(parent.name) if parent else ""
        named.append(label.removeprefix(whole).strip() or label)
    return tuple(named)


def links(inventory: DeviceInventory, key: str) -> tuple[tuple[str, str], ...]:
    """How one GPU is connected: each kind of link in words, and to which GPUs."""
    short = formatting.labels_of(inventory.devices, with_node=False)
    names = {device.key: name for device, name in zip(inventory.devices, short, strict=True)}
    found: dict[str, list[str]] = {}
    for link in inventory.links:
        others = [each for each in link.keys if each != key]
        if len(others) == 1 and others[0] in names:
            found.setdefault(link_between(link), []).append(names[others[0]])
    if len(found) == 1 and any(len(gpus) > 1 for gpus in found.values()):
        return tuple((words, f"to all {len(gpus)} other GPUs") for words, gpus in found.items())
    return tuple((words, f"to {', '.join(gpus)}") for words, gpus in found.items())


def notice(inventory: DeviceInventory) -> str:
    """Why there is no GPU to see; empty where there is one and nothing went wrong."""
    if inventory.problem is not None:
        return inventory.problem
    if any(device.is_gpu for device in inventory.devices):
        return ""
    if inventory.unresponsive:
        return "No GPU answers: training runs on the CPU."
    if inventory.driver is None:
        where = visible_line(workplace().host)
        place = f"on {where}" if where else "here"
        return f"No NVIDIA driver answers {place}: training runs on the CPU."
    return "The NVIDIA driver answers but lists no GPU: training runs on the CPU."


def by_device(
    problems: Sequence[Problem], keys: Sequence[str]
) -> tuple[dict[str, tuple[Problem, ...]], tuple[Problem, ...]]:
    """Errors and warnings of devices and memory: by the device they are about, and the others."""
    own: dict[str, tuple[Problem, ...]] = dict.fromkeys(keys, ())
    general: tuple[Problem, ...] = ()
    for problem in problems:
        table, _, rest = problem.field.partition(".")
        if table not in ("devices", "memory") or problem.severity is Severity.HINT:
            continue
        key = rest.partition(".")[0]
        if key in own:
            own[key] = (*own[key], problem)
        else:
            general = (*general, problem)
    return own, general


def applied(
    policy: MemoryPolicy, refused: Sequence[PhysicalDevice], inventory: DeviceInventory
) -> str:
    """What became of giving every GPU in use the same memory policy."""
    if not refused or not isinstance(policy, LimitedMemory | SplitMemory):
        return "Every GPU in use has this policy now."
    short = labels(inventory)
    names = ", ".join(short[inventory.devices.index(device)] for device in refused)
    keep = "keeps its own" if len(refused) == 1 else "keep their own"
    wanted = formatting.mib(allowed_mib(policy))
    return f"{names} {keep}: {wanted} do not fit. All other GPUs have this policy now."
