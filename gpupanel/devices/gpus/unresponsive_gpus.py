"""Who GPUs are that the driver counts and that do not answer: the kernel may know."""

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from gpupanel.devices.nvml import GpuLostError, NvmlGpu
from gpupanel.domain.device import UnresponsiveGpu
from gpupanel.domain.gpu_failure import GpuFailure
from gpupanel.domain.pci import is_same_pci_device, pci_address
from gpupanel.domain.visible_text import visible_line

_MODEL: Final = re.compile(r"^Model:[ \t]*(\S[^\n]*)$", re.MULTILINE)
_UUID: Final = re.compile(r"^GPU UUID:[ \t]*(GPU-[0-9a-f-]{36})[ \t]*$", re.MULTILINE)
"""The driver writes question marks in its place until it initialised the GPU once."""
_MOST_BYTES: Final = 4096
_MOST_GPUS: Final = 64


def unresponsive_gpu(index: int, nvml: NvmlGpu | None, failure: GpuFailure) -> UnresponsiveGpu:
    """What the driver knows of a GPU that does not say who it is."""
    name = bus_id = None
    with suppress(GpuLostError):
        if nvml is not None:
            name, bus_id = nvml.name(), nvml.pci_bus_id()
    return UnresponsiveGpu(
        failure=failure,
        index=index,
        name=None if name is None else visible_line(name),
        # What is none is no place to look for it.
        pci_bus_id=None if pci_address(bus_id) is None else bus_id,
    )


def named_by_kernel(
    gpus: Sequence[UnresponsiveGpu], kernel_gpus: Path, answering: Sequence[str | None]
) -> tuple[UnresponsiveGpu, ...]:
    """These GPUs with what the kernel knows of them; 64 at most.

    Driver and kernel both order GPUs by PCI bus. Where as many are without a bus id as the kernel
    lists besides the others, each is the one at its place; else some are not for this user, such
    as in a container, and which of them does not answer is not known.

    Args:
        gpus: Those that do not answer, in the driver's order.
        kernel_gpus: The kernel module's folder with an entry for each GPU, named by its PCI bus id
            (``/proc/driver/nvidia/gpus``).
        answering: The PCI bus ids of those that answer.
    """
    try:
        entries = [entry for entry in sorted(kernel_gpus.iterdir()) if pci_address(entry.name)]
    except OSError:
        entries = []
    known = (*answering, *(gpu.pci_bus_id for gpu in gpus))
    others = [each for each in entries if not any(is_same_pci_device(each.name, k) for k in known)]
    if len(others) != sum(gpu.pci_bus_id is None for gpu in gpus):
        others = []
    rest = iter(others)
    named = []
    for gpu in gpus[:_MOST_GPUS]:
        if gpu.pci_bus_id is None:
            entry = next(rest, None)
        else:
            same = (each for each in entries if is_same_pci_device(each.name, gpu.pci_bus_id))
            entry = next(same, None)
        named.append(gpu if entry is None else _with_entry(gpu, entry))
    return tuple(named)


def without_known(
    gpus: Sequence[UnresponsiveGpu], lost: Sequence[str | None]
) -> tuple[UnresponsiveGpu, ...]:
    """Those that are none of the GPUs that answered before and are lost.

    Args:
        gpus: Those that do not answer.
        lost: The PCI bus ids of those that answered before.
    """
    others = [gpu for gpu in gpus if not any(is_same_pci_device(gpu.pci_bus_id, k) for k in lost)]
    # Each of the rest may be one of those that do not report where they are.
    rest = len(lost) - (len(gpus) - len(others))
    nameless = [gpu for gpu in others if gpu.pci_bus_id is None][:rest] if rest > 0 else []
    return tuple(gpu for gpu in others if gpu not in nameless)


def _with_entry(gpu: UnresponsiveGpu, entry: Path) -> UnresponsiveGpu:
    try:
        with (entry / "information").open("rb") as file:
            text = file.read(_MOST_BYTES).decode(errors="replace")
    except OSError:
        text = ""
    model, uuid = _MODEL.search(text), _UUID.search(text)
    update = {
        "name": gpu.name or (None if model is None else visible_line(model[1].strip())),
        "pci_bus_id": gpu.pci_bus_id or entry.name,
        "key": gpu.key or (None if uuid is None else uuid[1]),
    }
    return gpu.model_copy(update=update)
