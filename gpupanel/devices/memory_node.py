"""The device node of CUDA's memory, made before a process could not have it made any more."""

import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

from gpupanel.devices.child_process import ask_child

_CONTROL_NODE: Final = "dev/nvidiactl"
_MEMORY_NODE: Final = "dev/nvidia-uvm"
_TOOL: Final = "nvidia-modprobe"
_TIME_LIMIT_S: Final = 10.0


def make_memory_node(root: Path = Path("/")) -> None:
    """Make ``/dev/nvidia-uvm`` where a driver is there and the node is not.

    CUDA calls nvidia-modprobe for it when it is first used, which is root's by its set-user-ID
    bit; a process in a user namespace of its own gains nothing by that bit (credentials(7)).
    Whether it was made CUDA reports soon enough.

    Args:
        root: Where the file system begins.
    """
    tool = shutil.which(_TOOL)
    is_missing = (root / _CONTROL_NODE).exists() and not (root / _MEMORY_NODE).exists()
    if tool is None or not is_missing:
        return
    # nvidia-modprobe(1): the module of unified memory, and the nodes of it and of GPU 0.
    with suppress(OSError):
        ask_child((tool, "-u", "-c=0"), _TIME_LIMIT_S)
