"""What can be wrong below TensorFlow: driver, container, device nodes, CUDA's start."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gpupanel.devices.doctor.environment import CONTROL_NODE, MEMORY_NODE, WSL_NODE, HostEnvironment
from gpupanel.devices.doctor.examined import Examined
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.tensorflow_facts import CUDA_NO_DEVICE, TensorFlowFacts
from gpupanel.planning.device_answers import never_answered

_GIVE_GPUS: Final = (
    "Start the container with its GPUs: `--gpus all` with Docker and the NVIDIA Container Toolkit, "
    "`--device nvidia.com/gpu=all` with Podman."
)
_DRIVER_COMMANDS: Final = {
    "ubuntu": "sudo ubuntu-drivers install",
    "debian": "sudo apt install nvidia-driver",
    "fedora": "sudo dnf install akmod-nvidia",
    "arch": "sudo pacman -S nvidia",
    "opensuse": "sudo zypper install nvidia-open-driver-G06-signed-kmp-default",
}


@dataclass(frozen=True, slots=True)
class _Mending:
    hint: str
    command: str = ""


# Results of cuInit, from NVIDIA's cuda.h.
_MENDINGS: Final = {
    34: _Mending(
        "The stub of CUDA's build tools is loaded in place of the driver: take the folder `stubs` "
        "out of LD_LIBRARY_PATH."
    ),
    46: _Mending("Another program holds the GPU for itself alone: end it (nvidia-smi shows it)."),
    802: _Mending(
        "The GPUs of this machine are joined by NVSwitch: start the service that sets it up.",
        "sudo systemctl start nvidia-fabricmanager",
    ),
    803: _Mending(
        "The driver was updated while the old one still runs: restart the machine.", "sudo reboot"
    ),
    804: _Mending(
        "The package cuda-compat is for data center GPUs only: remove it, or take its folder out "
        "of LD_LIBRARY_PATH."
    ),
}
_LOAD_AGAIN: Final = _Mending(
    "Load the kernel module for CUDA's memory again; after sleep it often needs that. If it does "
    "not help, restart the machine.",
    "sudo modprobe -r nvidia-uvm && sudo modprobe nvidia-uvm",
)


def no_driver(examined: Examined) -> Iterator[Problem]:
    """No driver answers: because there is none, or because it is not shown to this process."""
    host, facts = examined.host, examined.working_tensorflow
    is_expected = host.has_kernel_driver or bool(host.gpus_on_the_bus)
    if examined.driver.version is not None:
        return
    if host.is_wsl and not host.has_node(WSL_NODE):
        yield _WSL_WITHOUT_GPU
    elif host.container is not None and is_expected and not host.has_node(CONTROL_NODE):
        yield _container_without_gpus(host.container)
    elif examined.driver.problem is not None:
        yield examined.driver.problem
    elif facts is not None and facts.gpus:
        yield _seen_by_tensorflow_only(facts)
    elif host.is_wsl:
        yield _WSL_WITHOUT_DRIVER
    elif host.gpus_on_the_bus:
        yield _driver_missing(host)
    else:
        yield _NO_GPU


def no_gpu_listed(examined: Examined) -> Iterator[Problem]:
    """A driver answers and lists nothing."""
    driver = examined.driver
    if driver.version is None or driver.gpus or driver.unresponsive:
        return
    hint = "See whether a GPU is plugged in and given to this machine (nvidia-smi -L)."
    yield Problem(
        code="no_gpu_listed",
        severity=Severity.WARNING,
        message=f"The NVIDIA driver {driver.version} answers, but lists no GPU.",
        hint=hint if examined.host.container is None else _GIVE_GPUS,
    )


def unresponsive_gpus(examined: Examined) -> Iterator[Problem]:
    """GPUs that the driver counts and that do not answer, each with what came back."""
    for gpu in examined.driver.unresponsive:
        message, hint = never_answered((gpu,))
        yield Problem(
            code="device_not_answering",
            severity=Severity.WARNING,
            message=f"{message}.",
            hint=hint,
        )


def device_nodes(examined: Examined) -> Iterator[Problem]:
    """NVML does with fewer device nodes than CUDA."""
    host = examined.host
    if not examined.gpus or host.is_wsl or not examined.sees_fewer_gpus:
        return
    if host.nodes and not host.has_node(MEMORY_NODE):
        in_container = host.container is not None
        yield Problem(
            code="device_node_missing",
            message=f"{MEMORY_NODE} is missing, without which no program can use CUDA.",
            hint=_GIVE_GPUS if in_container else "Load the kernel module that brings it.",
            command="" if in_container else "sudo nvidia-modprobe -u -c=0",
        )
    closed = [node for node in host.nodes if not node.is_usable]
    if closed:
        group = next((node.group for node in closed if node.group not in (None, "root")), None)
        yield Problem(
            code="device_nodes_forbidden",
            message=f"You may not use {', '.join(node.path for node in closed)}.",
            hint="Join the group that may, then log in again."
            if group
            else "Ask the administrator of this machine for access.",
            command=f"sudo usermod -aG {group} $USER" if group else "",
        )


def cuda_start(examined: Examined) -> Iterator[Problem]:
    """The CUDA driver refuses to start, whatever TensorFlow does."""
    cuda = examined.cuda
    if not examined.gpus or cuda is None or not cuda.error_code:
        return
    if cuda.error_code == CUDA_NO_DEVICE:
        # Hidden GPUs, or instances that nobody made: the rules of GPUs say so.
        return
    mending = _MENDINGS.get(cuda.error_code, _LOAD_AGAIN)
    yield Problem(
        code="cuda_does_not_start",
        message=f"The driver lists {examined.gpu_names}, but CUDA does not start: {cuda.error}.",
        hint=mending.hint,
        command=mending.command,
        detail=examined.tensorflow_log,
    )


def _container_without_gpus(container: str) -> Problem:
    return Problem(
        code="container_without_gpus",
        severity=Severity.WARNING,
        message=f"The machine has an NVIDIA GPU, but this {container} container was started "
        f"without it: {CONTROL_NODE} is missing.",
        hint=_GIVE_GPUS,
    )


def _seen_by_tensorflow_only(facts: TensorFlowFacts) -> Problem:
    return Problem(
        code="gpus_without_management_library",
        severity=Severity.WARNING,
        message=f"TensorFlow sees {', '.join(gpu.name for gpu in facts.gpus)}, but the driver's "
        "library libnvidia-ml.so.1 is not found, without which GPUs can be neither chosen "
        "nor monitored.",
        hint="Install the part of the NVIDIA driver that brings nvidia-smi.",
    )


def _driver_missing(host: HostEnvironment) -> Problem:
    command = next(
        (_DRIVER_COMMANDS[name] for name in host.distribution if name in _DRIVER_COMMANDS), ""
    )
    first = "with RPM Fusion " if "akmod" in command else ""
    return Problem(
        code="nvidia_driver_missing",
        severity=Severity.WARNING,
        message=f"There is an NVIDIA GPU ({', '.join(host.gpus_on_the_bus)}), "
        "but no NVIDIA driver.",
        hint=f"Install the driver of your distribution {first}and restart the machine.",
        command=command,
    )


_NO_GPU: Final = Problem(
    code="no_nvidia_gpu",
    severity=Severity.HINT,
    message="There is no NVIDIA GPU with a driver on this machine: training runs on the CPU.",
    hint="Nothing else is needed for that; choose the CPU as device.",
)
_WSL_WITHOUT_GPU: Final = Problem(
    code="wsl_without_gpu",
    severity=Severity.WARNING,
    message=f"Windows shows no GPU to this Linux: {WSL_NODE} is missing.",
    hint="Bring WSL up to date, and see in Windows with `wsl -l -v` that this distribution is of "
    "version 2.",
    command="wsl.exe --update",
)
_WSL_WITHOUT_DRIVER: Final = Problem(
    code="wsl_without_driver",
    severity=Severity.HINT,
    message="Windows shows a GPU to this Linux, but no NVIDIA driver answers.",
    hint="If it is NVIDIA's, install its driver in Windows, not in here.",
)
