"""What a shell says about GPUs to every program that uses CUDA."""

from typing import Final

from gpupanel.domain.value import Value

PCI_BUS_ORDER: Final = "PCI_BUS_ID"
"""``CUDA_DEVICE_ORDER``: GPUs have the numbers of the PCI bus, as in NVML and ``nvidia-smi``."""
FASTEST_FIRST: Final = "FASTEST_FIRST"
"""What CUDA does where ``CUDA_DEVICE_ORDER`` is not set: it takes the fastest GPU for number 0, by
a rule that NVIDIA does not publish."""


class CudaVariables(Value):
    """The variables of a shell from which a run was asked for.

    Attributes:
        visible_devices: ``CUDA_VISIBLE_DEVICES``; ``None``: it is not set, and every GPU is meant.
        device_order: ``CUDA_DEVICE_ORDER``: what its numbers count; empty: it is not set.
        job_has_none: That no GPU is visible is what Slurm says of a job that asked for none:
            nobody has set a variable.
    """

    visible_devices: str | None = None
    device_order: str = ""
    job_has_none: bool = False
