"""What TensorFlow says of the GPUs while it sets them up: only its log has it."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpupanel.files.guarded_files import open_to_read, status

_STANDARD_ERROR: Final = 2
"""The descriptor that TensorFlow's C++ logs to, whatever ``sys.stderr`` is."""
_MOST_BYTES: Final = 2**26
"""Code of a person's own may print without end."""

# Both are logged in tensorflow/core/common_runtime/gpu/gpu_device.cc (TensorFlow 2.21):
# CreateGPUDevice logs each logical device that it makes, GetValidDeviceIds each GPU that it
# leaves out.
_CREATED: Final = re.compile(
    r"Created device \S*(?P<name>/device:GPU:\d+) with (?P<memory_mib>\d+) MB memory:"
    r".*?, name: (?P<model>.*?), pci bus id: (?P<bus>[^,\s]+)"
)
_IGNORED: Final = re.compile(
    r"Ignoring visible gpu device \(.*?, pci bus id: (?P<bus>[^,\s]+)[^)]*\) (?P<why>with .+)"
)


@dataclass(frozen=True, slots=True)
class CreatedDevice:
    """A logical GPU as TensorFlow says that it made it.

    Attributes:
        model: The physical GPU's name, as CUDA knows it.
        memory_mib: What it may take of the GPU's memory.
        pci_bus_id: Where the physical GPU is.
    """

    model: str
    memory_mib: int
    pci_bus_id: str


@dataclass(frozen=True, slots=True)
class IgnoredDevice:
    """A GPU that CUDA shows and TensorFlow leaves out, with its reason."""

    pci_bus_id: str
    why: str


class DeviceLog:
    """What TensorFlow wrote to this process's own log from now on.

    A log that this process does not write to says nothing, so that nothing foreign is taken for
    TensorFlow's word: in a terminal, or under whoever sends the standard error elsewhere.

    Args:
        path: Where standard output and standard error of this process go, if they go to a file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        # What stands there by now is of an earlier attempt of the run.
        self._start = _own_size(path)

    def created(self) -> dict[str, CreatedDevice]:
        """The logical GPUs by their names in this process (``/device:GPU:0``).

        A process that joins a cluster makes them twice; the last word counts.
        """
        return {
            found["name"]: CreatedDevice(
                model=found["model"],
                memory_mib=int(found["memory_mib"]),
                pci_bus_id=found["bus"],
            )
            for found in _CREATED.finditer(self.text())
        }

    def ignored(self) -> tuple[IgnoredDevice, ...]:
        """The GPUs that TensorFlow leaves out, each once."""
        found = (IgnoredDevice(each["bus"], each["why"]) for each in _IGNORED.finditer(self.text()))
        return tuple(dict.fromkeys(found))

    def text(self) -> str:
        """The first 64 MiB of the log; empty where it is written elsewhere."""
        if self._start is None:
            return ""
        try:
            with open_to_read(self._path) as file:
                file.seek(self._start)
                return file.read(_MOST_BYTES).decode("utf-8", errors="replace")
        except OSError:
            return ""


def show_device_log() -> None:
    """Let TensorFlow log what :class:`DeviceLog` reads; before its import.

    A person's shell may have set its log to warnings only.
    """
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "0"


def _own_size(path: Path) -> int | None:
    """Of the file that standard error goes to; ``None`` when that is another one, or none."""
    try:
        mine, there = os.fstat(_STANDARD_ERROR), status(path)
    except OSError:
        return None
    return there.st_size if there is not None and os.path.samestat(mine, there) else None
