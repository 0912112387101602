"""What a process can see of the machine besides NVML: the bus, device nodes, container or WSL."""

import os
import platform
import re
from pathlib import Path
from typing import Final

from gpupanel.domain.value import Value

CONTROL_NODE: Final = "/dev/nvidiactl"
MEMORY_NODE: Final = "/dev/nvidia-uvm"
"""Device node of the kernel module that manages CUDA's memory; NVML needs none."""
WSL_NODE: Final = "/dev/dxg"
_NODES: Final = re.compile(r"nvidia(ctl|-uvm|\d+)|dxg")
_NVIDIA_VENDOR: Final = "0x10de"
_DISPLAY_CLASS: Final = "0x03"
"""PCI base class of display controllers: VGA (0300) and 3D (0302)."""
_CONTAINER_MARKS: Final = ((".dockerenv", "Docker"), ("run/.containerenv", "Podman"))
_CONTAINER_GROUPS: Final = re.compile(r"docker|kubepods|containerd|libpod|lxc")


class DeviceNode(Value):
    """A file by which programs reach a driver.

    Attributes:
        is_usable: Whether this user may read and write it.
        group: The group that it belongs to, by name; ``None`` when not known.
    """

    path: str
    is_usable: bool = True
    group: str | None = None


class HostEnvironment(Value):
    """What this process can see of the machine.

    Attributes:
        system: The operating system ("Linux").
        processor: The processor's architecture ("x86_64").
        distribution: The short name of the Linux distribution and of those that it is like, the
            nearest first ("ubuntu", "debian").
        container: What kind of container this is; ``None`` outside of one.
        has_kernel_driver: Whether NVIDIA's kernel module is loaded.
        gpus_on_the_bus: PCI bus ids of NVIDIA's GPUs, with a driver or without.
        nodes: The files by which programs reach the driver.
    """

    system: str = "Linux"
    processor: str = "x86_64"
    distribution: tuple[str, ...] = ()
    is_wsl: bool = False
    container: str | None = None
    has_kernel_driver: bool = False
    gpus_on_the_bus: tuple[str, ...] = ()
    nodes: tuple[DeviceNode, ...] = ()

    def has_node(self, path: str) -> bool:
        """Whether that device node is there."""
        return any(node.path == path for node in self.nodes)


def host_environment(root: Path = Path("/")) -> HostEnvironment:
    """Read the kernel's files; never raises, since each of them may be absent.

    Args:
        root: Where the file system begins.
    """
    return HostEnvironment(
        system=platform.system(),
        processor=platform.machine(),
        distribution=_distribution(root),
        is_wsl="microsoft" in _text(root / "proc/sys/kernel/osrelease").lower(),
        container=_container(root),
        has_kernel_driver=(root / "proc/driver/nvidia/version").exists(),
        gpus_on_the_bus=_gpus_on_the_bus(root / "sys/bus/pci/devices"),
        nodes=_nodes(root),
    )


def _gpus_on_the_bus(pci_devices: Path) -> tuple[str, ...]:
    """PCI bus ids of NVIDIA's display controllers, as the kernel lists them; empty off Linux."""
    try:
        entries = sorted(pci_devices.iterdir())
    except OSError:
        return ()
    return tuple(
        entry.name
        for entry in entries
        if _text(entry / "vendor").strip() == _NVIDIA_VENDOR
        and _text(entry / "class").startswith(_DISPLAY_CLASS)
    )


def _distribution(root: Path) -> tuple[str, ...]:
    lines = _text(root / "etc/os-release").splitlines()
    values = dict(line.partition("=")[::2] for line in lines)
    names = f"{values.get('ID', '')} {values.get('ID_LIKE', '')}".replace('"', "")
    return tuple(names.split())


def _container(root: Path) -> str | None:
    for mark, name in _CONTAINER_MARKS:
        if (root / mark).exists():
            return name
    return "Linux" if _CONTAINER_GROUPS.search(_text(root / "proc/1/cgroup")) else None


def _nodes(root: Path) -> tuple[DeviceNode, ...]:
    try:
        found = sorted(each for each in (root / "dev").iterdir() if _NODES.fullmatch(each.name))
    except OSError:
        return ()
    return tuple(
        DeviceNode(
            path=f"/dev/{node.name}",
            is_usable=os.access(node, os.R_OK | os.W_OK),
            group=_group(node),
        )
        for node in found
    )


def _group(file: Path) -> str | None:
    try:
        return file.group()
    except (OSError, KeyError, NotImplementedError):
        return None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
