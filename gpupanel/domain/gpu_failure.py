"""Why a GPU does not answer: what its driver said, and what to do about it."""

from typing import Final

from gpupanel.domain.value import Value

NO_POWER: Final = 8
INTERRUPT_PROBLEM: Final = 11
LOST: Final = 15
RESET_REQUIRED: Final = 16
UNKNOWN: Final = 999
"""Numbers of ``nvmlReturn_t`` (nvml.h): ``NVML_ERROR_INSUFFICIENT_POWER``, ``..._IRQ_ISSUE``,
``..._GPU_IS_LOST``, ``..._RESET_REQUIRED``, ``..._UNKNOWN``."""

_SEE_THE_LOG: Final = "the kernel's log says why (sudo dmesg | grep -iE 'nvrm|xid')."
_ADVICE: Final = {
    NO_POWER: "Shut the machine down and plug in the power cables of this GPU: each of its sockets "
    "needs one from a power supply that is strong enough.",
    INTERRUPT_PROBLEM: "Restart the machine. If that does not help, put the GPU into another slot "
    f"or update the BIOS; {_SEE_THE_LOG}",
    LOST: "Restart the machine; that usually brings it back. If it does not, check its power "
    f"cables, its slot and its cooling; {_SEE_THE_LOG}",
    # NVIDIA Container Toolkit, troubleshooting: "Containers losing access to GPUs".
    UNKNOWN: "In a container: restart the container, whose devices were taken away from it, as "
    "happens when the system's services are reloaded (systemctl daemon-reload). Elsewhere: restart "
    f"the machine; {_SEE_THE_LOG}",
    RESET_REQUIRED: "End all that uses it and reset it (sudo nvidia-smi --gpu-reset -i and its PCI "
    "bus id), or restart the machine.",
}
_OTHER_ADVICE: Final = (
    f"Run nvidia-smi to see whether it lists the GPU, and restart the machine; {_SEE_THE_LOG}"
)


class GpuFailure(Value):
    """What came back from a GPU that does not answer.

    Attributes:
        said: The driver's words, or what happened when it was asked, without a full stop.
        code: NVML's number of the error; ``None``: it gave none, such as by not answering at all.
    """

    said: str
    code: int | None = None

    @property
    def words(self) -> str:
        """What came back: "the driver says: GPU is lost (NVML error 15)"."""
        if self.code is None:
            return self.said
        return f"the driver says: {self.said} (NVML error {self.code})"

    @property
    def advice(self) -> str:
        """What to do, in sentences."""
        if self == ASLEEP:
            return "Wake it up on its card in the window, or by any program that uses it."
        return _OTHER_ADVICE if self.code is None else _ADVICE.get(self.code, _OTHER_ADVICE)


NO_ANSWER: Final = GpuFailure(said="the driver was asked for it and has not come back")
ASLEEP: Final = GpuFailure(said="it is asleep, and is not woken only to be asked")
