"""Which GPUs TensorFlow could use when it was asked as a run would ask it."""

from gpupanel.domain.problem import Problem
from gpupanel.domain.tensorflow_facts import TensorFlowBuild
from gpupanel.domain.value import Value


class GpuFault(Value):
    """Why TensorFlow cannot use some GPUs.

    Attributes:
        keys: The GPUs.
        problem: What is wrong and the one command that mends what commands can.
    """

    keys: tuple[str, ...]
    problem: Problem


class GpuSupport(Value):
    """What TensorFlow answered about GPUs that the driver lists.

    Attributes:
        build: What TensorFlow was built for; ``None`` when it cannot be imported.
        faults: What keeps GPUs from being used; empty: every one that was asked about can be.
        without_nccl: Why TensorFlow cannot load NCCL, with the command that installs it; ``None``:
            it can, or that is not known.
        unanswered: Why it is not known: TensorFlow did not get to answer.
    """

    build: TensorFlowBuild | None = None
    faults: tuple[GpuFault, ...] = ()
    without_nccl: Problem | None = None
    unanswered: Problem | None = None

    def fault_of(self, key: str) -> GpuFault | None:
        """What keeps that GPU from being used; ``None``: nothing that is known."""
        return next((fault for fault in self.faults if key in fault.keys), None)
