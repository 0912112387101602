"""What the doctor may have looked at: a machine that is well, and what can be changed of it."""

from dataclasses import replace

from gpupanel.devices.doctor.environment import DeviceNode, HostEnvironment
from gpupanel.devices.doctor.examined import Examined
from gpupanel.devices.doctor.findings import findings
from gpupanel.devices.doctor.visibility import visibilities
from gpupanel.devices.probes.driver_probe import DriverFacts
from gpupanel.domain.device import DeviceKind, PhysicalDevice
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.tensorflow_facts import (
    CudaDevice,
    CudaFacts,
    SharedLibrary,
    TensorFlowFacts,
    TensorFlowGpu,
)

RTX_4090 = PhysicalDevice(
    key="GPU-00000000-0000-0000-0000-000000004090",
    kind=DeviceKind.GPU,
    name="NVIDIA GeForce RTX 4090",
    memory_total_mib=24_564,
    compute_capability=(8, 9),
    pci_bus_id="00000000:01:00.0",
)
GT_1030 = PhysicalDevice(
    key="GPU-00000000-0000-0000-0000-000000001030",
    kind=DeviceKind.GPU,
    name="NVIDIA GeForce GT 1030",
    memory_total_mib=2_048,
    compute_capability=(6, 1),
    pci_bus_id="00000000:0A:00.0",
)
DRIVER_LIBRARY = SharedLibrary(soname="libcuda.so.1", path="/usr/lib/libcuda.so.570.86.15")
CUDNN = SharedLibrary(
    soname="libcudnn.so.9", package="nvidia-cudnn-cu12", path="/site/nvidia/cudnn/lib/libcudnn.so.9"
)
NCCL = SharedLibrary(
    soname="libnccl.so.2",
    package="nvidia-nccl-cu12",
    path="/site/nvidia/nccl/lib/libnccl.so.2",
    is_required=False,
)


def cuda_device(gpu: PhysicalDevice, multiprocessors: int = 128) -> CudaDevice:
    """A GPU as CUDA tells it."""
    return CudaDevice(
        name=gpu.name,
        uuid=f"GPU-{gpu.key.removeprefix('GPU-').removeprefix('MIG-')}",
        pci_bus_id=None if gpu.pci_bus_id is None else gpu.pci_bus_id[4:].lower(),
        compute_capability=gpu.compute_capability,
        multiprocessor_count=multiprocessors,
    )


def listed(*gpus: PhysicalDevice) -> tuple[TensorFlowGpu, ...]:
    """GPUs as TensorFlow tells them."""
    return tuple(
        TensorFlowGpu(name=gpu.name, compute_capability=gpu.compute_capability) for gpu in gpus
    )


TENSORFLOW = TensorFlowFacts(
    version="2.21.0",
    is_cuda_build=True,
    cuda_version="12.5.1",
    cudnn_version="9",
    compute_capabilities=("sm_60", "sm_70", "sm_80", "sm_89", "compute_90"),
    gpus=listed(RTX_4090),
    libraries=(DRIVER_LIBRARY, CUDNN, NCCL),
    cuda=CudaFacts(devices=(cuda_device(RTX_4090),)),
)
BLIND = TENSORFLOW.model_copy(update={"gpus": ()})
NODES = tuple(DeviceNode(path=f"/dev/{name}") for name in ("nvidia-uvm", "nvidia0", "nvidiactl"))
WELL = Examined(
    driver=DriverFacts(version="570.86.15", cuda_version=(12, 8), gpus=(RTX_4090,)),
    host=HostEnvironment(
        distribution=("ubuntu", "debian"),
        has_kernel_driver=True,
        gpus_on_the_bus=("0000:01:00.0",),
        nodes=NODES,
    ),
    tensorflow=TENSORFLOW,
    tensorflow_log="the log",
)
NO_GPU = replace(
    WELL,
    driver=DriverFacts(),
    host=HostEnvironment(distribution=("debian",)),
    tensorflow=TensorFlowFacts(version="2.21.0", is_cuda_build=True, cuda_version="12.5.1"),
)


def with_driver(examined: Examined, **changes: object) -> Examined:
    """The same with another driver."""
    return replace(examined, driver=examined.driver.model_copy(update=changes))


def with_host(examined: Examined, **changes: object) -> Examined:
    """The same elsewhere."""
    return replace(examined, host=examined.host.model_copy(update=changes))


def with_tensorflow(examined: Examined, **changes: object) -> Examined:
    """The same with another TensorFlow."""
    assert examined.tensorflow is not None
    return replace(examined, tensorflow=examined.tensorflow.model_copy(update=changes))


def concluded(examined: Examined) -> tuple[Problem, ...]:
    """All that the doctor tells."""
    return findings(examined, visibilities(examined))


def told(examined: Examined) -> list[tuple[str, Severity]]:
    """Code and severity of all that the doctor tells."""
    return [(problem.code, problem.severity) for problem in concluded(examined)]


def only(examined: Examined) -> Problem:
    """The one thing that the doctor tells."""
    (problem,) = concluded(examined)
    return problem
