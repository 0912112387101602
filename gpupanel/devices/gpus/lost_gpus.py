"""Who GPUs are that the driver lists and that do not answer: the kernel may know."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gpupanel.domain.device import LostGpu
from gpupanel.domain.pci import is_same_pci_device, pci_address
from gpupanel.domain.visible_text import visible_line

_MODEL: Final = re.compile(r"^Model:[ \t]*(\S[^\n]*)$", re.MULTILINE)
_MOST_BYTES: Final = 4096
_MOST_GPUS: Final = 64


def lost_gpus(
    count: int, kernel_gpus: Path, answering: Sequence[str | None]
) -> tuple[LostGpu, ...]:
    """So many GPUs that do not answer, with what the kernel knows of them.

    Args:
        count: How many the driver lists besides the known ones.
        kernel_gpus: The kernel module's folder with an entry for each GPU, named by its PCI bus id
            (``/proc/driver/nvidia/gpus``).
        answering: The PCI bus ids of the known ones.
    """
    try:
        entries = sorted(kernel_gpus.iterdir())
    except OSError:
        entries = []
    others = [
        entry
        for entry in entries
        if pci_address(entry.name) is not None
        and not any(is_same_pci_device(entry.name, known) for known in answering)
    ]
    if len(others) != count:
        # Some are not for this user, such as in a container: which of them is lost is not known.
        return (LostGpu(),) * min(count, _MOST_GPUS)
    return tuple(LostGpu(name=_model(entry), pci_bus_id=entry.name) for entry in others)


def _model(entry: Path) -> str | None:
    """The product's name as the kernel module has it."""
    try:
        with (entry / "information").open("rb") as file:
            text = file.read(_MOST_BYTES).decode(errors="replace")
    except OSError:
        return None
    found = _MODEL.search(text)
    return None if found is None else visible_line(found[1].strip())
